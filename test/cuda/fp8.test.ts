// FP8 and chosen algorithms on the host side: what is refused, which products serve, what is kept on disk.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HostTensor, UnsupportedFormatError } from '../../src/backend/index.js';
import { type CudaOptions, createBackendOn } from '../../src/cuda/cuda-backend.js';
import { Device } from '../../src/cuda/runtime/device.js';
import { createFakeCublasLt, type FakeCublasLtOptions, type FakeProduct } from './fake-cublaslt.js';
import { createFakeDriver, type FakeDriverOptions } from './fake-driver.js';

const compiler = { version: 'fake', compile: () => new Uint8Array(8) };
const e4m3 = 28;
const bf16 = 14;

interface Opening {
  readonly driver?: FakeDriverOptions;
  readonly library?: Omit<FakeCublasLtOptions, 'enqueue' | 'onMatmul'>;
  readonly options?: Omit<CudaOptions, 'device' | 'libraryRoots'>;
}

function open({ driver: driverOptions = {}, library = {}, options = {} }: Opening = {}) {
  const { driver, state } = createFakeDriver({ totalBytes: 2 ** 30, ...driverOptions });
  const products: FakeProduct[] = [];
  const onMatmul = (product: FakeProduct) => products.push(product);
  const cublasLt = createFakeCublasLt({ enqueue: state.enqueue, onMatmul, ...library });
  const device = new Device(driver, 0);
  return {
    b: createBackendOn({ device, compiler, cublasLt }, { dtype: 'bf16', ...options }),
    state,
    products,
    cublasLt,
  };
}

function stored(n: number, k: number, dtype: HostTensor['dtype'] = 'bf16'): HostTensor {
  return { shape: [n, k], dtype, bytes: new Uint8Array(n * k * (dtype === 'bf16' ? 2 : 1)) };
}

describe('FP8 weights', () => {
  it('are refused below compute capability 8.9, by name', () => {
    const { b } = open({ driver: { capability: [8, 6] } });
    expect(b.weightFormats).toEqual(['dense']);
    expect(b.fp8Serving()).toBeNull();
    const make = () => b.weight([stored(32, 32)], 'matrix', { format: 'fp8' });
    expect(make).toThrow(UnsupportedFormatError);
    expect(make).toThrow(/^fp8 needs .* 8\.9 or newer, this device is Fake GPU \(compute capability 8\.6\)/);
  });

  it('take a byte an element and a factor a row, and give both back', () => {
    const { b } = open();
    const before = b.report().memory.allocated;
    const w = b.weight([stored(64, 1024), stored(64, 1024, 'f8e4m3')], 'matrix', { format: 'fp8' });
    expect([w.shape, w.dtype, w.format]).toEqual([[128, 1024], 'f8e4m3', 'fp8']);
    expect(b.report().memory.allocated - before).toBe(128 * 1024 + 512);
    w[Symbol.dispose]();
    w[Symbol.dispose]();
    expect(b.report().memory.allocated).toBe(before);
  });

  it('are matrices only, and want FP8 rows of their own length', () => {
    const { b } = open();
    expect(() => b.weight([stored(32, 32)], 'table', { format: 'fp8' })).toThrow('an FP8 table');
    const rows = b.quantizeRows(b.zeros([4, 32], 'bf16'));
    const plain = b.weight([stored(32, 32)], 'matrix');
    expect(() => b.matmul(rows, plain)).toThrow('quantised rows [4, 32] by a dense weight [32, 32]');
    const longer = b.weight([stored(32, 64)], 'matrix', { format: 'fp8' });
    expect(() => b.matmul(rows, longer)).toThrow('x [4, 32] by w [32, 64]');
  });
});

describe('FP8 products', () => {
  const multiply = ({ b, products }: ReturnType<typeof open>, k = 32) => {
    const w = b.weight([stored(32, k)], 'matrix', { format: 'fp8' });
    const rows = b.quantizeRows(b.zeros([4, k], 'bf16'));
    products.length = 0;
    b.matmul(rows, w);
    return products.map(({ type, outerVectors }) => ({ type, outerVectors }));
  };

  it('leave the factors to the library where a real product shows that it has them', () => {
    const opened = open();
    expect(opened.b.fp8Serving()).toBe('vector');
    expect(multiply(opened)).toEqual([{ type: e4m3, outerVectors: true }]);
  });

  it('multiply the factors in afterwards where it has none', () => {
    const opened = open({ library: { servesOuterVectors: false } });
    expect(opened.b.fp8Serving()).toBe('scalar');
    expect(multiply(opened)).toEqual([{ type: e4m3, outerVectors: false }]);
    expect(opened.state.launches.map(({ kernel }) => kernel)).toContain('finish_product');
  });

  it('widen rows that tensor cores cannot read, and everything in float32', () => {
    const opened = open();
    expect(multiply(opened, 24)).toEqual([{ type: bf16, outerVectors: false }]);
    expect(open({ options: { dtype: 'f32' } }).b.fp8Serving()).toBe('widened');
  });

  it('do not trust a library whose result is wrong', () => {
    const { driver, state } = createFakeDriver();
    const cublasLt = createFakeCublasLt({ enqueue: (name, stream) => state.enqueue(name, stream, () => {}) });
    const b = createBackendOn({ device: new Device(driver, 0), compiler, cublasLt }, { dtype: 'bf16' });
    expect(b.fp8Serving()).toBe('widened');
  });

  it('are settled before a region is captured, and can then be recorded', () => {
    const opened = open();
    const w = opened.b.weight([stored(32, 32)], 'matrix', { format: 'fp8' });
    const x = opened.b.zeros([4, 32], 'bf16');
    using graph = opened.b.capture(() => void opened.b.matmul(opened.b.quantizeRows(x), w));
    graph.replay();
    expect(opened.products.at(-1)).toMatchObject({ m: 4, n: 32, type: e4m3, outerVectors: true });
  });
});

describe('algorithms chosen by timing', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'orrery-gemm-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Each candidate is measured twice: a guess, then in earnest. The third is the fastest. */
  const times = () => {
    let calls = 0;
    return () => [5, 4, 1, 3][Math.floor(calls++ / 2) % 4] ?? 1;
  };
  const chosen = ({ b, products }: ReturnType<typeof open>): number[] => {
    const w = b.weight([stored(48, 32)], 'matrix');
    products.length = 0;
    b.matmul(b.zeros([4, 32], 'bf16'), w);
    b.matmul(b.zeros([4, 32], 'bf16'), w);
    return products.filter((_, i) => i >= products.length - 2).map(({ algorithm }) => algorithm);
  };
  const library = { algorithms: 4 };

  it('are the fastest of the first, timed once, beside the stream of work', () => {
    const opened = open({ library, driver: { elapsedMs: times() }, options: { tune: true, cacheDir: folder } });
    expect(chosen(opened)).toEqual([2, 2]);
    expect(new Set(opened.products.map(({ stream }) => stream)).size).toBe(2);
    expect(opened.products.length).toBeGreaterThan(2 + 4 * 2);
    expect(readdirSync(folder).filter((name) => name.endsWith('.gemm'))).toHaveLength(1);
  });

  it('are the same in a later process, without timing', () => {
    const opened = open({ library, driver: { elapsedMs: () => 1 }, options: { tune: true, cacheDir: folder } });
    expect(chosen(opened)).toEqual([2, 2]);
    expect(opened.products).toHaveLength(2);
  });

  it('are the first where nobody asked', () => {
    const opened = open({ library, options: { cacheDir: folder } });
    expect(chosen(opened)).toEqual([0, 0]);
    expect(opened.products).toHaveLength(2);
  });

  it('can be timed in the rehearsal of a graph, whose memory stays as it is', () => {
    const opened = open({ library, driver: { elapsedMs: times() }, options: { tune: true } });
    const { b, products } = opened;
    const w = b.weight([stored(48, 32)], 'matrix');
    const x = b.zeros([4, 32], 'bf16');
    using graph = b.capture(() => void b.matmul(x, w));
    const timed = products.length;
    graph.replay();
    expect(timed).toBeGreaterThan(4);
    expect(products.at(-1)?.algorithm).toBe(2);
  });
});
