// The backend's host side without a GPU: uploads and downloads, scopes, graphs and their arena, weights, products, disposal.
import { describe, expect, it } from 'vitest';
import { type HostTensor, ShapeError } from '../../src/backend/index.js';
import { createBackendOn } from '../../src/cuda/cuda-backend.js';
import { vectorWidth } from '../../src/cuda/kernels/elementwise.js';
import { planPermute } from '../../src/cuda/kernels/layout/permute.js';
import { attentionTiles } from '../../src/cuda/kernels/products/attention.js';
import { rowLaunch } from '../../src/cuda/kernels/rows/row-launch.js';
import { Device } from '../../src/cuda/runtime/device.js';
import { own } from '../../src/cuda/runtime/tensor.js';
import { viewAddress } from '../../src/native/index.js';
import { createFakeCublasLt } from './fake-cublaslt.js';
import { createFakeDriver } from './fake-driver.js';

const compiler = { version: 'fake', compile: () => new Uint8Array(8) };

function open({
  dtype = 'f32',
  guarded = false,
  totalBytes = 2 ** 30,
  serves = () => true,
}: {
  readonly dtype?: 'f32' | 'bf16';
  readonly guarded?: boolean;
  readonly totalBytes?: number;
  readonly serves?: (rows: number, columns: number) => boolean;
} = {}) {
  const { driver, state } = createFakeDriver({ totalBytes });
  const products: unknown[] = [];
  const cublasLt = createFakeCublasLt({
    enqueue: state.enqueue,
    serves,
    onMatmul: ({ m, n, batch }) => products.push({ m, n, batch }),
  });
  const device = new Device(driver, 0);
  return { b: createBackendOn({ device, compiler, cublasLt }, { dtype, guarded }), state, cublasLt, products };
}

const floats = (shape: readonly number[], values: readonly number[]): HostTensor => ({
  shape,
  dtype: 'f32',
  bytes: new Uint8Array(Float32Array.from(values).buffer),
});
const valuesOf = ({ bytes }: HostTensor) => [...new Float32Array(bytes.slice().buffer)];

describe('memory', () => {
  it('gives uploaded bytes back, of any size', async () => {
    const { b } = open();
    expect(valuesOf(await b.download(b.upload(floats([3], [1, -2, 0.5]))))).toEqual([1, -2, 0.5]);
    expect(valuesOf(await b.download(b.zeros([2, 2], 'f32')))).toEqual([0, 0, 0, 0]);
    expect((await b.download(b.zeros([0, 4], 'f32'))).bytes).toHaveLength(0);
    const large = new Uint8Array((40 << 20) + 3).map((_, i) => i % 251);
    const host = await b.download(b.upload({ shape: [large.length], dtype: 'u8', bytes: large }));
    expect(Buffer.compare(host.bytes, large)).toBe(0);
    expect(() => b.upload({ ...floats([3], [1]), shape: [3] })).toThrow(ShapeError);
  });

  it('a download holds what the tensor held when it was called', async () => {
    const { b } = open();
    const x = b.upload(floats([2], [1, 2]));
    const before = b.download(x);
    b.write(x, b.upload(floats([2], [8, 9])));
    x[Symbol.dispose]();
    expect(valuesOf(await before)).toEqual([1, 2]);
  });

  it('scopes free what they made but not what they return, views included', () => {
    const { b } = open();
    const start = b.report().memory.allocated;
    const kept = b.scope(() => {
      b.zeros([1024], 'f32');
      return { view: b.view(b.zeros([4, 128], 'f32'), [512]) };
    });
    expect(b.report().memory.allocated - start).toBe(2048);
    kept.view[Symbol.dispose]();
    kept.view[Symbol.dispose]();
    expect(b.report().memory.allocated).toBe(start);
    expect(() => b.view(kept.view, [512])).toThrow(/used after its scope ended/);
  });

  it('frees what a failing scope made', () => {
    const { b } = open();
    const start = b.report().memory.allocated;
    expect(() =>
      b.scope(() => {
        b.zeros([64], 'f32');
        throw new Error('stop');
      }),
    ).toThrow('stop');
    expect(b.report().memory.allocated).toBe(start);
  });

  it('notices writes beside a tensor when guarded', () => {
    const { b } = open({ guarded: true });
    const x = b.zeros([8], 'f32');
    viewAddress(BigInt(own(x).address) + 32n, 3).fill(0);
    viewAddress(BigInt(own(x).address) - 1n, 1).fill(0);
    expect(b.strayWrites()).toEqual(['1 bytes before a block of 32', '3 bytes after a block of 32']);
    expect(b.strayWrites()).toEqual([]);
    viewAddress(BigInt(own(x).address) + 40n, 1).fill(0);
    x[Symbol.dispose]();
    expect(b.strayWrites()).toEqual(['1 bytes after a block of 32']);
  });

  it('says what would help when there is no room', () => {
    const { b } = open({ totalBytes: 64 << 20 });
    expect(() => b.zeros([1 << 26], 'f32')).toThrow(/0\.25 GiB asked, 0\.0\d GiB free\. .*use --vae-use-tiling/);
  });
});

describe('graphs', () => {
  it('record without running, replay on the same memory, and share one arena', async () => {
    const { b, state } = open();
    const [x, y] = [b.upload(floats([2], [1, 2])), b.zeros([2], 'f32')];
    const body = () => {
      const copy = b.concat([x], 0);
      b.write(y, copy);
    };
    const graph = b.capture(body);
    expect(valuesOf(await b.download(y))).toEqual([0, 0]);
    const { reserved } = b.report().memory;
    const second = b.capture(body);
    expect(b.report().memory.reserved).toBe(reserved);
    graph.replay();
    expect(valuesOf(await b.download(y))).toEqual([1, 2]);
    b.write(x, b.upload(floats([2], [5, 6])));
    second.replay();
    expect(valuesOf(await b.download(y))).toEqual([5, 6]);
    graph[Symbol.dispose]();
    graph[Symbol.dispose]();
    expect(() => graph.replay()).toThrow(/after it was disposed of/);
    second[Symbol.dispose]();
    expect(state.calls.filter((name) => name === 'cuGraphExecDestroy')).toHaveLength(2);
  });

  it('a body that fails leaves nothing behind, and the stream works on', async () => {
    const { b } = open();
    const { allocated } = b.report().memory;
    let runs = 0;
    const failing = (when: number) => () => {
      b.zeros([16], 'f32');
      if (++runs === when) throw new Error('no');
    };
    expect(() => b.capture(failing(1))).toThrow('no');
    expect(() => b.capture(failing(3))).toThrow('no');
    expect(b.report().memory.allocated).toBe(allocated);
    expect(valuesOf(await b.download(b.upload(floats([1], [4]))))).toEqual([4]);
  });

  it('refuse what cannot be recorded', async () => {
    const { b } = open();
    const x = b.zeros([1], 'f32');
    expect(() => b.capture(() => b.capture(() => {}))).toThrow(/inside a captured region/);
    expect(() => b.capture(() => b.weight([floats([1, 1], [1])], 'matrix'))).toThrow(/weight cannot be made/);
    let refused: unknown;
    b.capture(() => {
      void b.download(x).catch((error) => {
        refused = error;
      });
    });
    await b.synchronize();
    expect(refused).toBeInstanceOf(ShapeError);
  });
});

describe('weights and products', () => {
  it("merges parts of the device's own dtype by copies alone", async () => {
    const { b, state, products } = open();
    const w = b.weight([floats([2, 2], [1, 0, 0, 1]), floats([1, 2], [3, 4])], 'matrix');
    expect(w.shape).toEqual([3, 2]);
    const y = b.matmul(b.upload(floats([1, 2], [5, 7])), w, { bias: b.upload(floats([3], [0, 0, 1])) });
    expect(valuesOf(await b.download(y))).toEqual([5, 7, 44]);
    expect(products).toEqual([{ m: 1, n: 3, batch: 1 }]);
    expect(state.launches).toEqual([]);
  });

  it('refuses parts that do not fit, and uses after disposal', () => {
    const { b } = open();
    expect(() => b.weight([floats([1, 2], [1, 2]), floats([1, 1], [1])], 'matrix')).toThrow(ShapeError);
    expect(() => b.weight([{ ...floats([1, 2], [1, 2]), bytes: new Uint8Array(4) }], 'matrix')).toThrow(/4 bytes/);
    expect(() => b.weight([], 'matrix')).toThrow('no parts');
    const w = b.weight([floats([1, 1], [2])], 'matrix');
    w[Symbol.dispose]();
    w[Symbol.dispose]();
    expect(() => b.matmul(b.upload(floats([1, 1], [1])), w)).toThrow(/after it was disposed of/);
  });

  it('falls back to its own kernel where the library has no algorithm', () => {
    const { b, state } = open({ serves: () => false });
    b.matmul(b.upload(floats([2, 3], [1, 2, 3, 4, 5, 6])), b.weight([floats([4, 3], Array(12).fill(1))], 'matrix'));
    expect(state.launches.map(({ kernel, grid, block }) => ({ kernel, grid, block }))).toEqual([
      { kernel: 'conv', grid: [1, 1, 1], block: 256 },
    ]);
  });

  it('keeps bfloat16 products that are not aligned away from the library', () => {
    const { b, products, state } = open({ dtype: 'bf16' });
    const bf16 = (shape: readonly number[]): HostTensor => ({
      shape,
      dtype: 'bf16',
      bytes: new Uint8Array(shape.reduce((a, c) => a * c, 2)),
    });
    b.matmul(b.upload(bf16([2, 7])), b.weight([bf16([8, 7])], 'matrix'));
    b.matmul(b.upload(bf16([2, 8])), b.weight([bf16([7, 8])], 'matrix'));
    expect(products).toEqual([]);
    expect(state.launches.map(({ kernel }) => kernel)).toEqual(['conv', 'conv']);
    b.matmul(b.upload(bf16([2, 8])), b.weight([bf16([8, 8])], 'matrix'));
    expect(products).toEqual([{ m: 2, n: 8, batch: 1 }]);
  });

  it('gives everything back when it is disposed of', async () => {
    const { b, state, cublasLt } = open();
    b.matmul(b.upload(floats([1, 1], [1])), b.weight([floats([1, 1], [2])], 'matrix'));
    await b[Symbol.asyncDispose]();
    await b[Symbol.asyncDispose]();
    expect(state.blocks.size).toBe(0);
    expect(cublasLt.live.count).toBe(0);
    expect(state.calls.filter((name) => name === 'cuDevicePrimaryCtxRelease')).toHaveLength(1);
  });
});

describe('attention', () => {
  it.each([
    { capability: [9, 0] as const, hopper: true, kernel: 'hopper_attention' },
    { capability: [9, 0] as const, hopper: false, kernel: 'attention' },
    { capability: [8, 9] as const, hopper: true, kernel: 'attention' },
    { capability: [10, 0] as const, hopper: true, kernel: 'attention' },
  ])('of heads of 128 on $capability, Hopper $hopper, is by $kernel', ({ capability, hopper, kernel }) => {
    const { driver, state } = createFakeDriver({ capability });
    const cublasLt = createFakeCublasLt({ enqueue: state.enqueue });
    const b = createBackendOn({ device: new Device(driver, 0), compiler, cublasLt }, { hopper });
    const rows = (heads: number) => b.zeros([32, heads, 128], 'bf16');
    b.attention(rows(4), [{ k: rows(2), v: rows(2) }]);
    expect(state.launches.map((launch) => launch.kernel)).toEqual([kernel]);
  });
});

describe('launch plans', () => {
  it('joins axes that stay together and moves them in wide units', () => {
    expect(planPermute([2, 3, 64], [1, 0, 2], 2)).toEqual({
      axes: [
        { size: 3, stride: 8 },
        { size: 2, stride: 24 },
        { size: 8, stride: 1 },
      ],
      unit: 16,
    });
    expect(planPermute([4, 5, 6], [0, 1, 2], 4).axes).toHaveLength(1);
    expect(planPermute([33, 70], [1, 0], 2)).toEqual({
      axes: [
        { size: 70, stride: 1 },
        { size: 33, stride: 70 },
      ],
      unit: 2,
    });
    expect(planPermute([1, 1], [1, 0], 4).axes).toEqual([{ size: 1, stride: 0 }]);
  });

  it('takes the widest access that lengths and addresses allow', () => {
    const at = (address: number, dtype: 'f32' | 'bf16') => ({ address, dtype });
    expect(vectorWidth([at(512, 'bf16'), at(1024, 'bf16')], [4096])).toBe(8);
    expect(vectorWidth([at(512, 'bf16'), at(1024, 'f32')], [4096])).toBe(4);
    expect(vectorWidth([at(512, 'bf16')], [12])).toBe(4);
    expect(vectorWidth([at(514, 'bf16')], [4096])).toBe(1);
  });

  it('gives short rows a warp and long rows a block', () => {
    expect(rowLaunch(10, 256, 8)).toEqual({
      defines: { C: 256, VEC: 8, THREADS: 32, ROWS: 8 },
      launch: { grid: [2], block: 256 },
    });
    expect(rowLaunch(10, 4096, 8).launch).toEqual({ grid: [10], block: 256 });
  });

  it('keeps attention tiles within the shared memory of every chip that is claimed', () => {
    for (let d = 1; d <= 256; d++) expect(attentionTiles(d).shared).toBeLessThanOrEqual(99 << 10);
  });
});
