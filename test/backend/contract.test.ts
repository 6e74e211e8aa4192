// What the contract says of memory: scopes, shared views, captured regions, copies. On each device present.
import { afterAll, describe, expect, it } from 'vitest';
import { type Backend, ShapeError, type Tensor } from '../../src/backend/index.js';
import { host } from './cases/op-case.js';
import { devices } from './devices.js';
import { toNumbers } from './oracle/number-formats.js';

const floats = (shape: readonly number[], values: readonly number[]) => host(shape, 'f32', values);

async function values(b: Backend, x: Tensor): Promise<number[]> {
  const { bytes, dtype } = await b.download(x);
  return [...toNumbers(bytes, dtype)];
}

for (const row of devices) {
  describe(`contract on ${row.name}`, async () => {
    const device = await row.open({ probe: true });
    if (!device) return;
    const b = device.backend;
    afterAll(() => device[Symbol.asyncDispose]());

    it('uploads a copy and downloads a copy', async () => {
      const source = floats([2], [1, 2]);
      const x = b.upload(source);
      source.bytes.fill(0);
      const first = await b.download(x);
      first.bytes.fill(0);
      expect(await values(b, x)).toEqual([1, 2]);
    });

    it('keeps what a scope returns, frees the rest', async () => {
      const x = b.upload(floats([3], [1, 2, 3]));
      let dropped: Tensor | undefined;
      const kept = b.scope(() => {
        dropped = b.add(x, x);
        const sum = b.add(dropped, x);
        return { view: b.view(sum, [3, 1]), nothing: null, list: [b.multiply(x, x)] };
      });
      expect(kept.view.shape).toEqual([3, 1]);
      expect(await values(b, kept.view)).toEqual([3, 6, 9]);
      expect(await Promise.all(kept.list.map((item) => values(b, item)))).toEqual([[1, 4, 9]]);
      expect(() => b.add(dropped as Tensor, x)).toThrow(/after its scope ended/);
    });

    it('hands what an inner scope keeps to the outer one, which frees it', () => {
      const x = b.upload(floats([1], [1]));
      let inner: Tensor | undefined;
      b.scope(() => {
        inner = b.scope(() => b.add(x, x));
        return null;
      });
      expect(() => b.add(inner as Tensor, x)).toThrow(/after its scope ended/);
    });

    it('frees the temporaries of a scope that throws', () => {
      const x = b.upload(floats([1], [1]));
      let inner: Tensor | undefined;
      expect(() =>
        b.scope(() => {
          inner = b.add(x, x);
          throw new Error('stop');
        }),
      ).toThrow('stop');
      expect(() => b.add(inner as Tensor, x)).toThrow(/after its scope ended/);
    });

    it('shares memory between a tensor, its views and its leading slices', async () => {
      const x = b.upload(floats([3, 2], [1, 2, 3, 4, 5, 6]));
      b.write(b.slice(x, 0, 1, 2), b.upload(floats([1, 2], [30, 40])));
      b.write(b.slice(b.view(x, [6]), 0, 5, 6), b.upload(floats([1], [60])));
      expect(await values(b, x)).toEqual([1, 2, 30, 40, 5, 60]);
    });

    it('copies slices of other axes', async () => {
      const x = b.upload(floats([2, 2], [1, 2, 3, 4]));
      const column = b.slice(x, 1, 1, 2);
      b.write(column, b.upload(floats([2, 1], [9, 9])));
      expect(await values(b, x)).toEqual([1, 2, 3, 4]);
      expect(await values(b, column)).toEqual([9, 9]);
    });

    it('keeps memory alive through a view of a disposed tensor', async () => {
      const x = b.upload(floats([2], [7, 8]));
      const view = b.view(x, [2, 1]);
      x[Symbol.dispose]();
      b.upload(floats([2], [0, 0]));
      expect(await values(b, view)).toEqual([7, 8]);
    });

    it('runs a captured body at each replay, on the values of that time', async () => {
      const x = b.upload(floats([2], [1, 2]));
      const total = b.zeros([2], 'f32');
      using graph = b.capture(() => b.write(total, b.add(total, x)));
      expect(await values(b, total)).toEqual([0, 0]);
      graph.replay();
      b.write(x, b.upload(floats([2], [10, 20])));
      graph.replay();
      await b.synchronize();
      expect(await values(b, total)).toEqual([11, 22]);
    });

    it('reads the step of a combination and the length of a segment from the device', async () => {
      const step = b.upload(host([1], 'i32', [0]));
      const dst = b.zeros([1], 'f32');
      const terms = [b.upload(floats([1], [1]))];
      const coefficients = b.upload(floats([2, 1], [3, 5]));
      using graph = b.capture(() => b.linearCombination(dst, { terms, coefficients, step }));
      graph.replay();
      expect(await values(b, dst)).toEqual([3]);
      b.write(step, b.upload(host([1], 'i32', [1])));
      graph.replay();
      expect(await values(b, dst)).toEqual([5]);
    });

    it('refuses arguments that do not fit together', () => {
      const x = b.upload(floats([2, 3], [1, 2, 3, 4, 5, 6]));
      const w = b.weight([floats([2, 2], [1, 2, 3, 4])], 'matrix');
      expect(() => b.matmul(x, w)).toThrow(ShapeError);
      expect(() => b.view(x, [5])).toThrow('view: [2, 3] as [5]');
      expect(() => b.weight([floats([2, 2], [1, 2, 3, 4])], 'convolution')).toThrow(ShapeError);
      expect(() => b.weight([floats([1, 2], [1, 2]), floats([1, 3], [1, 2, 3])], 'matrix')).toThrow(ShapeError);
    });

    it('refuses ids outside a table', () => {
      const table = b.weight([floats([2, 2], [1, 2, 3, 4])], 'table');
      expect(() => b.embed(table, b.upload(host([1], 'i32', [2])))).toThrow('id 2 of a table with 2 rows');
      expect(() => b.embed(table, b.upload(host([1], 'i32', [-1])))).toThrow('id -1 of a table with 2 rows');
    });
  });
}
