// Weights that live in host memory: the same results as resident ones, one by one and in graphs, whatever order streams run in.
import { describe, expect, it } from 'vitest';
import type { Backend, HostTensor, Offload, Weight, WeightGroup } from '../../src/backend/index.js';
import { inGroup, OutOfMemoryError, residentOffload, ShapeError } from '../../src/backend/index.js';
import { createBackendOn } from '../../src/cuda/cuda-backend.js';
import { Device } from '../../src/cuda/runtime/device.js';
import { Fp8Weight } from '../../src/cuda/weights/fp8-weight.js';
import { viewAddress } from '../../src/native/index.js';
import { createFakeCublasLt } from './fake-cublaslt.js';
import { createFakeDriver, type FakeDriverOptions } from './fake-driver.js';
import type { FakeOrder } from './fake-streams.js';

const compiler = { version: 'fake', compile: () => new Uint8Array(8) };
const orders: readonly FakeOrder[] = ['as given', 'others late', 'others early'];
const size = 16;

function open(options: FakeDriverOptions = {}) {
  const { driver, state } = createFakeDriver(options);
  const cublasLt = createFakeCublasLt({ enqueue: state.enqueue, serves: () => true });
  return { b: createBackendOn({ device: new Device(driver, 0), compiler, cublasLt }, { dtype: 'f32' }), state };
}

function floats(shape: readonly number[], seed: number): HostTensor {
  const values = new Float32Array(shape.reduce((a, x) => a * x, 1));
  for (let i = 0; i < values.length; i++) values[i] = Math.sin(seed * 31 + i * 7) / 2;
  return { shape, dtype: 'f32', bytes: new Uint8Array(values.buffer) };
}

interface Layer {
  readonly up: Weight;
  readonly down: Weight;
  readonly group: WeightGroup | null;
}

/** Layers of two products each; `offload` keeps them outside the device. */
function layersOf(b: Backend, count: number, offload: Offload | null): Layer[] {
  return Array.from({ length: count }, (_, i) => {
    const group = offload?.group() ?? null;
    const on = group ? inGroup(b, group) : b;
    const up = on.weight([floats([size, size], 3 * i), floats([size, size], 3 * i + 1)], 'matrix');
    return { up, down: on.weight([floats([size, 2 * size], 3 * i + 2)], 'matrix'), group };
  });
}

/** Every layer once, from `state` into `state`. */
function pass(b: Backend, layers: readonly Layer[], state: ReturnType<Backend['zeros']>): void {
  b.scope(() => {
    let x = state;
    for (const [i, { up, down, group }] of layers.entries()) {
      group?.enter(layers[i + 1]?.group ?? undefined);
      x = b.matmul(b.matmul(x, up), down);
    }
    b.write(state, x);
    return null;
  });
}

const bytesOf = async (b: Backend, x: ReturnType<Backend['zeros']>) => Buffer.from((await b.download(x)).bytes);

describe.each(orders)('offloaded layers, other streams %s', (order) => {
  it.each([1, 2, 5])(
    '%i of them give the bytes of resident ones, pass after pass and graph after graph',
    async (count) => {
      const { b } = open({ order });
      const resident = layersOf(b, count, null);
      const outside = layersOf(b, count, b.offload());
      const [mine, theirs] = [b.upload(floats([4, size], 99)), b.upload(floats([4, size], 99))];
      const expectSame = async () => expect((await bytesOf(b, theirs)).equals(await bytesOf(b, mine))).toBe(true);
      for (let i = 0; i < 2; i++)
        for (const [layers, x] of [
          [resident, mine],
          [outside, theirs],
        ] as const)
          pass(b, layers, x);
      await expectSame();
      // A graph of two passes, as of two branches, then one of one pass; between their replays, work outside graphs.
      using twice = b.capture(() => {
        for (let i = 0; i < 2; i++) pass(b, outside, theirs);
      });
      using once = b.capture(() => pass(b, outside, theirs));
      for (const graph of [twice, once, once, twice, null, once, null, twice]) {
        if (graph) graph.replay();
        else pass(b, outside, theirs);
        for (let i = 0; i < (graph === twice ? 2 : 1); i++) pass(b, resident, mine);
      }
      await expectSame();
    },
  );

  it('may be entered in any order, and again', async () => {
    const { b } = open({ order });
    const offload = b.offload();
    const layers = layersOf(b, 4, offload);
    const resident = layersOf(b, 4, null);
    const x = b.upload(floats([1, size], 5));
    for (const [i, next] of [
      [0, 3],
      [3, 3],
      [1, 2],
      [1, null],
      [0, 2],
      [2, null],
    ] as const) {
      const [layer, plain] = [layers[i] as Layer, resident[i] as Layer];
      layer.group?.enter(next === null ? undefined : (layers[next]?.group ?? undefined));
      const [a, c] = [b.matmul(x, layer.up), b.matmul(x, plain.up)];
      expect((await bytesOf(b, a)).equals(await bytesOf(b, c))).toBe(true);
    }
  });

  it('whose next group is never entered do not disturb what follows', async () => {
    const { b } = open({ order });
    const layers = layersOf(b, 3, b.offload());
    const x = b.upload(floats([1, size], 5));
    const y = b.zeros([1, 2 * size], 'f32');
    const body = () => {
      layers[1]?.group?.enter(layers[2]?.group ?? undefined);
      b.write(y, b.matmul(x, (layers[1] as Layer).up));
    };
    body();
    const wanted = await bytesOf(b, y);
    using graph = b.capture(body);
    body();
    for (let i = 0; i < 2; i++) graph.replay();
    expect((await bytesOf(b, y)).equals(wanted)).toBe(true);
  });
});

describe('memory', () => {
  const slot = 4 * (2 * size * size + size * 2 * size);

  it('holds two groups on the device, the rest in host memory, and gives all of it back', async () => {
    const { b, state } = open();
    const x = b.upload(floats([1, size], 1));
    const { allocated } = b.report().memory;
    const pinned = b.report().pinnedBytes;
    const offload = b.offload();
    const layers = layersOf(b, 6, offload);
    expect(b.report().memory.allocated).toBe(allocated);
    expect(b.report().pinnedBytes - pinned).toBe(6 * slot);
    pass(b, layers, x);
    expect(b.report().memory.allocated - allocated).toBe(2 * slot);
    offload.release();
    expect(b.report().memory.allocated).toBe(allocated);
    pass(b, layers, x);
    offload[Symbol.dispose]();
    for (const { up, down } of layers) for (const weight of [up, down]) weight[Symbol.dispose]();
    expect(b.report().memory.allocated).toBe(allocated);
    expect(b.report().pinnedBytes).toBe(pinned);
    await b[Symbol.asyncDispose]();
    expect(state.hostBlocks.size).toBe(0);
  });

  it('stays where a graph reads it, until the graph is gone', () => {
    const { b } = open();
    const x = b.upload(floats([1, size], 1));
    const offload = b.offload();
    const layers = layersOf(b, 3, offload);
    const { allocated } = b.report().memory;
    const graph = b.capture(() => pass(b, layers, x));
    offload.release();
    expect(b.report().memory.allocated - allocated).toBeGreaterThanOrEqual(2 * slot);
    graph[Symbol.dispose]();
    offload.release();
    expect(b.report().memory.allocated).toBe(allocated);
  });

  it('of the host that runs out is an error that names the remedy, and leaves nothing behind', () => {
    const { b } = open({ hostBytes: 1 << 20 });
    const { allocated } = b.report().memory;
    const group = b.offload().group();
    const big = { shape: [512, 1024], dtype: 'f32' as const, bytes: new Uint8Array(2 << 20) };
    const make = () => b.weight([big], 'matrix', { group });
    expect(make).toThrow(OutOfMemoryError);
    expect(make).toThrow(/leave --enable-layerwise-offload out/);
    expect(b.report().memory.allocated).toBe(allocated);
  });
});

describe('misuse', () => {
  it('is refused by name', () => {
    const { b } = open();
    const offload = b.offload();
    const [first, second] = layersOf(b, 2, offload) as [Layer, Layer];
    const x = b.zeros([1, size], 'f32');
    expect(() => b.matmul(x, first.up)).toThrow(/without its group having been entered/);
    first.group?.enter(second.group ?? undefined);
    expect(() => b.matmul(x, second.up)).toThrow(/without its group having been entered/);
    expect(() => b.weight([floats([8, 8], 1)], 'matrix', { group: offload.group() })).toThrow(/after the first group/);
    expect(() => b.weight([floats([8, 8], 1)], 'table', { group: offload.group() })).toThrow(ShapeError);
    const foreign = residentOffload().group();
    expect(() => b.weight([floats([8, 8], 1)], 'matrix', { group: foreign })).toThrow(/another device/);
    expect(() => first.group?.enter(foreign)).toThrow(/another device/);
  });

  it('in a recording is refused there, and the stream works on', async () => {
    const { b } = open();
    const layers = layersOf(b, 2, b.offload());
    const x = b.upload(floats([1, size], 1));
    let runs = 0;
    const failing = () => {
      layers[0]?.group?.enter(layers[1]?.group ?? undefined);
      if (++runs === 2) throw new Error('no');
    };
    expect(() => b.capture(failing)).toThrow('no');
    pass(b, layers, x);
    const plain = b.upload(floats([1, size], 1));
    pass(b, layersOf(b, 2, null), plain);
    expect((await bytesOf(b, x)).equals(await bytesOf(b, plain))).toBe(true);
  });
});

describe('FP8 weights', () => {
  it('bring their rows and their factors', async () => {
    const { driver, state } = createFakeDriver({ order: 'others late' });
    const cublasLt = createFakeCublasLt({ enqueue: state.enqueue, serves: () => true });
    const b = createBackendOn({ device: new Device(driver, 0), compiler, cublasLt }, {});
    const offload = b.offload();
    const made = [1, 2, 3].map((seed) => {
      const group = offload.group();
      const scale = floats([32], seed);
      const bytes = new Uint8Array(32 * 48).map((_, i) => (i * seed) % 113);
      const weight = b.weight([{ shape: [32, 48], dtype: 'f8e4m3', bytes, scale }], 'matrix', { format: 'fp8', group });
      return { group, weight, bytes, scale };
    });
    for (const [i, { group, weight, bytes, scale }] of made.entries()) {
      group.enter(made[i + 1]?.group);
      await b.synchronize();
      if (!(weight instanceof Fp8Weight)) throw new Error('not FP8');
      const { values, scales } = weight.addresses;
      expect(Buffer.compare(viewAddress(BigInt(values), bytes.length), bytes)).toBe(0);
      expect(Buffer.compare(viewAddress(BigInt(scales), 128), scale.bytes)).toBe(0);
    }
  });
});
