// Chooses among the library's algorithms for a product by timing them once; the choice is kept on disk, so that later processes make it too.
import { createHash } from 'node:crypto';
import { dtypeBytes, OutOfMemoryError } from '../backend/index.js';
import { algorithmBytes } from './ffi/cublaslt.js';
import { CU_EVENT_DEFAULT } from './ffi/driver.js';
import type { Product } from './product.js';
import { firstOf } from './runtime/device.js';
import type { ImageCache } from './runtime/image-cache.js';
import type { Runtime } from './runtime/runtime.js';

/** An algorithm in the library's own words, and the workspace it wants. */
export interface AlgorithmChoice {
  readonly algorithm: Uint8Array;
  readonly workspace: number;
}

export interface Choosing {
  /** What decides the choice besides the chip. */
  readonly key: string;
  readonly choices: ImageCache;
  readonly product: Product;
  /** In the library's order. */
  candidates(): readonly AlgorithmChoice[];
  /** Enqueues the product by an algorithm; false where it cannot. */
  run(choice: AlgorithmChoice, product: Product, stream: number): boolean;
}

/** A later candidate must be faster by this much: timings of equal ones differ as well. */
const worthwhile = 0.98;
/** Time spent on a candidate, and runs at most. */
const enoughMs = 4;
const mostRuns = 20;

/** The kept choice, else the fastest candidate; null where there is none. */
export function chooseAlgorithm(r: Runtime, choosing: Choosing): AlgorithmChoice | null {
  const { device } = r;
  const parts = ['gemm', choosing.key, device.name, device.architecture, device.driverVersion];
  const name = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40);
  const kept = choosing.choices.read(name);
  if (kept?.length === algorithmBytes + 8) return unpack(kept);
  const candidates = choosing.candidates();
  const [first] = candidates;
  // While a graph is recorded nothing can be timed; it was rehearsed before, with the choice made then.
  if (!first || (r.stream.isCapturing && !r.stream.isRehearsing)) return first ?? null;
  const chosen = candidates.length === 1 ? first : fastest(r, candidates, first, choosing);
  choosing.choices.write(name, pack(chosen));
  return chosen;
}

function pack({ algorithm, workspace }: AlgorithmChoice): Uint8Array {
  const bytes = new Uint8Array(algorithmBytes + 8);
  bytes.set(algorithm);
  new DataView(bytes.buffer).setBigUint64(algorithmBytes, BigInt(workspace), true);
  return bytes;
}

function unpack(bytes: Uint8Array): AlgorithmChoice {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { algorithm: bytes.slice(0, algorithmBytes), workspace: Number(view.getBigUint64(algorithmBytes, true)) };
}

function fastest(
  r: Runtime,
  candidates: readonly AlgorithmChoice[],
  first: AlgorithmChoice,
  { product, run }: Choosing,
): AlgorithmChoice {
  const { x, w, out, m, n, k } = product;
  const bytes = { x: m * x.pitch * dtypeBytes(x.dtype), out: m * out.pitch * dtypeBytes(out.dtype) };
  const taken: number[] = [];
  const take = (size: number) => {
    const address = r.pool.allocate(size);
    taken.push(address);
    return address;
  };
  r.stream.drain();
  try {
    // Operands of their own: real ones may not be there yet, and results must not change. Weights stand in for rows, since
    // the chip's clock depends on the numbers.
    const [rows, result, scales] = [take(bytes.x), take(bytes.out), take(4 * m)];
    const weightBytes = n * k * dtypeBytes(w.dtype);
    for (let at = 0; at < bytes.x; at += weightBytes)
      r.side.copy(rows + at, w.address, Math.min(weightBytes, bytes.x - at));
    r.side.fill(scales, 0x3f, 4 * m);
    const stand: Product = {
      ...product,
      x: { ...x, address: rows },
      out: { ...out, address: result },
      ...(product.scales && { scales: { ...product.scales, x: scales } }),
    };
    let best = first;
    let bestMs = Number.POSITIVE_INFINITY;
    for (const candidate of candidates) {
      const ms = time(r, () => run(candidate, stand, r.side.handle));
      if (ms >= bestMs * worthwhile) continue;
      best = candidate;
      bestMs = ms;
    }
    return best;
  } catch (error) {
    if (error instanceof OutOfMemoryError) return first;
    throw error;
  } finally {
    r.side.drain();
    for (const address of taken) r.pool.free(address);
    r.pool.trim();
  }
}

/** Milliseconds of one run on the side stream; infinite where it cannot be run. */
function time(r: Runtime, run: () => boolean): number {
  const { device, side } = r;
  const { driver } = device;
  const events = [0, 1].map(() => {
    const out = new BigUint64Array(1);
    device.check('cuEventCreate', driver.cuEventCreate(out, CU_EVENT_DEFAULT));
    return firstOf(out);
  });
  const [start = 0, end = 0] = events;
  const elapsed = new Float32Array(1);
  const measure = (runs: number): number => {
    device.check('cuEventRecord', driver.cuEventRecord(start, side.handle));
    for (let i = 0; i < runs; i++) if (!run()) return Number.POSITIVE_INFINITY;
    device.check('cuEventRecord', driver.cuEventRecord(end, side.handle));
    side.drain();
    device.check('cuEventElapsedTime', driver.cuEventElapsedTime(elapsed, start, end));
    return (elapsed[0] ?? 0) / runs;
  };
  const guess = Math.max(measure(1), 0.001);
  const ms = guess === Number.POSITIVE_INFINITY ? guess : measure(runsFor(guess));
  for (const event of events) driver.cuEventDestroy(event);
  return ms;
}

const runsFor = (guessMs: number) => Math.max(2, Math.min(mostRuns, Math.ceil(enoughMs / guessMs)));
