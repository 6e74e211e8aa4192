// How fast the CPU device is: the products that networks spend their time in, in GFLOP/s.
import type { HostTensor, Tensor } from '../backend/index.js';
import { addressOf } from '../native/index.js';
import { openBlas } from './blas.js';
import { type CpuBackend, createCpuBackend } from './cpu-backend.js';

export interface CpuBenchOptions {
  /** Thread counts to measure, one after the other. */
  readonly threads: readonly number[];
  /** As `CpuOptions.blas`. */
  readonly blas?: string | null;
  /** Seconds per measurement; 0.5 when absent. */
  readonly seconds?: number;
}

/** One measurement. `op` is `matmul 512`, `matmul 1024`, `attention`, `conv3d`; `sgemm 512`, `sgemm 1024` is the BLAS called directly. */
export interface CpuBenchRow {
  readonly op: string;
  readonly threads: number;
  readonly gflops: number;
}

export interface CpuBench {
  /** What the device says of itself, per thread count. */
  readonly devices: readonly string[];
  readonly rows: readonly CpuBenchRow[];
}

const sizes: readonly number[] = [512, 1024];

/** Measures the best of repeated runs. Zero-filled memory would flatter, so operands are random. */
export async function benchCpu(options: CpuBenchOptions): Promise<CpuBench> {
  const seconds = options.seconds ?? 0.5;
  const blas = options.blas === undefined ? 'auto' : options.blas;
  const rows: CpuBenchRow[] = [];
  const devices: string[] = [];
  for (const threads of options.threads) {
    const backend = await createCpuBackend({ threads, blas });
    try {
      devices.push(backend.describe());
      for (const work of works(backend))
        rows.push({ op: work.op, threads, gflops: rate(work.flops, seconds, work.run) });
      if (backend.blas !== null) rows.push(...direct(backend.blas, threads, seconds));
    } finally {
      await backend[Symbol.asyncDispose]();
    }
  }
  return { devices, rows };
}

interface Work {
  readonly op: string;
  readonly flops: number;
  readonly run: () => void;
}

function randomHost(shape: readonly number[]): HostTensor {
  const values = new Float32Array(shape.reduce((product, size) => product * size, 1));
  for (let i = 0; i < values.length; i++) values[i] = Math.random() - 0.5;
  return { shape, dtype: 'f32', bytes: new Uint8Array(values.buffer) };
}

function* works(b: CpuBackend): Generator<Work> {
  const run = (op: string, flops: number, body: () => Tensor): Work => ({
    op,
    flops,
    run: () => {
      b.scope(() => {
        body();
        return null;
      });
    },
  });
  for (const n of sizes) {
    using x = b.upload(randomHost([n, n]));
    using w = b.weight([randomHost([n, n])], 'matrix');
    yield run(`matmul ${n}`, 2 * n ** 3, () => b.matmul(x, w));
  }
  {
    const [rows, heads, d] = [1024, 16, 128];
    using q = b.upload(randomHost([rows, heads, d]));
    using k = b.upload(randomHost([rows, heads, d]));
    using v = b.upload(randomHost([rows, heads, d]));
    yield run('attention', 4 * rows * rows * heads * d, () => b.attention(q, [{ k, v }]));
  }
  const [t, h, width, c] = [4, 60, 104, 96];
  using x = b.upload(randomHost([t, h, width, c]));
  using w = b.weight([randomHost([c, c, 3, 3, 3])], 'convolution');
  const side = [1, 1] as const;
  yield run('conv3d', 2 * t * h * width * c * c * 27, () => b.conv(x, w, { padding: [side, side, side] }));
}

/** GFLOP/s of the fastest of the runs that fit into the time, after one to warm up. */
function rate(flops: number, seconds: number, run: () => void): number {
  run();
  let best = Number.POSITIVE_INFINITY;
  const end = performance.now() + seconds * 1000;
  do {
    const start = performance.now();
    run();
    best = Math.min(best, performance.now() - start);
  } while (performance.now() < end);
  return flops / best / 1e6;
}

/** `cblas_sgemm` as anyone would call it, with the library's own threads. */
function direct(path: string, threads: number, seconds: number): CpuBenchRow[] {
  const { sgemm, setThreads } = openBlas(path);
  try {
    setThreads(threads);
    return sizes.map((n) => {
      const operands = [0, 1, 2].map(() => randomHost([n, n]).bytes);
      const [a = 0, b = 0, c = 0] = operands.map((bytes) => Number(addressOf(bytes)));
      const gflops = rate(2 * n ** 3, seconds, () => sgemm(true, n, n, n, a, n, b, n, 0, c, n));
      return { op: `sgemm ${n}`, threads, gflops };
    });
  } finally {
    setThreads(1);
  }
}
