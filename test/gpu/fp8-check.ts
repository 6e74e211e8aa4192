// FP8 products and fused kernels on a GPU: errors against float64 on sampled rows and columns at Nano's sizes, with and without fast
// accumulation; rates of FP8 and bfloat16 products by the library's first algorithm and by a timed one; rates of what quantises.
// Arguments: parts to run, of `errors rates fused`; all where absent.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { elementCount, type HostTensor, type Tensor } from '../../src/backend/index.js';
import { type CudaBackend, createCudaBackend } from '../../src/cuda/index.js';
import { fromFloats, toFloats } from '../backend/oracle/number-formats.js';
import { quantizedFloats } from '../backend/oracle/quantization.js';
import { pythonRoots } from './open-gpu.js';

type Sizes = readonly [m: number, n: number, k: number];

const wanted = process.argv.slice(2);
const includes = (part: string) => wanted.length === 0 || wanted.includes(part);

const errorSizes: readonly Sizes[] = [
  [5070, 6144, 4096],
  [5070, 24576, 4096],
  [5070, 4096, 12288],
  [1024, 6144, 4096],
  [44160, 24576, 4096],
];

const rateSizes: readonly Sizes[] = [
  [1024, 6144, 4096],
  [1024, 4096, 12288],
  [5070, 6144, 4096],
  [5070, 4096, 4096],
  [5070, 24576, 4096],
  [5070, 4096, 12288],
  [44160, 24576, 4096],
];

/** Normal numbers that operands repeat; not a multiple of a row, so that rows differ. */
const period = 4_194_296;

function normals(): Float32Array {
  const out = new Float32Array(period);
  let state = 12345;
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
  for (let i = 0; i < period; i++) out[i] = (uniform() + uniform() + uniform() + uniform()) * Math.sqrt(3);
  return out;
}

const base = normals();

/** The normals times `size` as bfloat16, and the numbers that these are. */
function block(size: number): { readonly bits: Uint16Array; readonly values: Float32Array } {
  const bits = new Uint16Array(period);
  const scaled = base.map((value) => value * size);
  const words = new Uint32Array(scaled.buffer);
  for (let i = 0; i < period; i++) {
    const word = words[i] as number;
    bits[i] = (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
  }
  for (let i = 0; i < period; i++) words[i] = (bits[i] as number) << 16;
  return { bits, values: scaled };
}

const rowsBlock = block(1);
const weightBlocks = new Map<number, ReturnType<typeof block>>();
function weightBlock(k: number) {
  const known = weightBlocks.get(k) ?? block(1 / Math.sqrt(k));
  weightBlocks.set(k, known);
  return known;
}

function activations(b: CudaBackend, shape: readonly number[]): Tensor {
  const count = elementCount(shape);
  return b.scope(() => {
    const source = b.upload({ shape: [period], dtype: 'bf16', bytes: new Uint8Array(rowsBlock.bits.buffer) });
    const line = b.zeros([count], 'bf16');
    for (let at = 0; at < count; at += period) {
      const end = Math.min(count, at + period);
      b.write(b.slice(line, 0, at, end), b.slice(source, 0, 0, end - at));
    }
    return b.view(line, shape);
  });
}

function storedMatrix(n: number, k: number): HostTensor {
  const { bits } = weightBlock(k);
  const all = new Uint16Array(n * k);
  for (let at = 0; at < all.length; at += period) all.set(bits.subarray(0, Math.min(period, all.length - at)), at);
  return { shape: [n, k], dtype: 'bf16', bytes: new Uint8Array(all.buffer) };
}

function rowOf(values: Float32Array, row: number, k: number): Float32Array {
  return Float32Array.from({ length: k }, (_, i) => values[(row * k + i) % period] as number);
}

function open(options: { readonly tune?: boolean; readonly fp8FastAccumulation?: boolean }): CudaBackend {
  const cacheDir = join(tmpdir(), 'orrery-kernels');
  return createCudaBackend({ dtype: 'bf16', libraryRoots: pythonRoots(), cacheDir, ...options });
}

async function milliseconds(b: CudaBackend, run: () => void): Promise<number> {
  const repeat = async (count: number): Promise<number> => {
    using start = b.mark();
    for (let i = 0; i < count; i++)
      b.scope(() => {
        run();
        return null;
      });
    using end = b.mark();
    await b.synchronize();
    return b.between(start, end) / count;
  };
  await repeat(1);
  const guess = Math.max(0.01, await repeat(2));
  const count = Math.max(3, Math.min(100, Math.round(12 / guess)));
  const times = [await repeat(count), await repeat(count), await repeat(count)].sort((x, y) => x - y);
  return times[1] ?? 0;
}

/** Sampled outputs by float64: of the numbers themselves, and of what quantisation leaves of them. */
interface Sample {
  readonly rows: readonly number[];
  readonly columns: readonly number[];
  readonly exact: Float64Array;
  readonly quantized: Float64Array;
}

function sample([m, n, k]: Sizes): Sample {
  const rows = [0, 1, Math.floor(m / 3), Math.floor(m / 2), m - 1];
  const columns = Array.from({ length: 64 }, (_, i) => (i * 997 + 13 * (i % 7)) % n);
  const xs = rows.map((row) => rowOf(rowsBlock.values, row, k));
  const ws = columns.map((column) => rowOf(weightBlock(k).values, column, k));
  const products = (left: readonly Float32Array[], right: readonly Float32Array[]) =>
    Float64Array.from(
      left.flatMap((x) => right.map((w) => x.reduce((sum, value, i) => sum + value * (w[i] as number), 0))),
    );
  const narrow = (all: readonly Float32Array[]) => all.map((values) => quantizedFloats(values, k));
  return { rows, columns, exact: products(xs, ws), quantized: products(narrow(xs), narrow(ws)) };
}

async function picked(b: CudaBackend, y: Tensor, { rows, columns }: Sample): Promise<Float64Array> {
  const out: number[] = [];
  for (const row of rows) {
    const { bytes } = await b.download(b.slice(y, 0, row, row + 1));
    const values = toFloats(bytes, 'bf16');
    for (const column of columns) out.push(values[column] as number);
  }
  return Float64Array.from(out);
}

function relativeL2(got: Float64Array, wanted: Float64Array): number {
  const power = wanted.reduce((sum, value) => sum + value * value, 0);
  return Math.sqrt(got.reduce((sum, value, i) => sum + (value - (wanted[i] as number)) ** 2, 0) / power);
}

const short = (x: number) => x.toExponential(2);
let failures = 0;

async function checkErrors(b: CudaBackend, isFast: boolean): Promise<void> {
  for (const sizes of errorSizes) {
    const [m, n, k] = sizes;
    const expected = sample(sizes);
    const stored = storedMatrix(n, k);
    const x = activations(b, [m, k]);
    const rows = b.quantizeRows(x);
    using w = b.weight([stored], 'matrix', { format: 'fp8' });
    const y = b.matmul(rows, w);
    const got = await picked(b, y, expected);
    const rate = (2 * m * n * k) / (await milliseconds(b, () => void b.matmul(rows, w))) / 1e9;
    const [error, own] = [relativeL2(got, expected.exact), relativeL2(got, expected.quantized)];
    let line = `error ${m}x${n}x${k}${isFast ? ' fast' : ''}: fp8 ${short(error)}, of its own numbers ${short(own)}`;
    if (!isFast) {
      using plain = b.weight([stored], 'matrix');
      const z = b.matmul(x, plain);
      line += `, bf16 ${short(relativeL2(await picked(b, z, expected), expected.exact))}`;
      z[Symbol.dispose]();
      const wide = b.matmul(x, w);
      line += `, fp8 weight alone ${short(relativeL2(await picked(b, wide, expected), expected.exact))}`;
      wide[Symbol.dispose]();
    }
    for (const tensor of [x, y, rows.values, rows.scales]) tensor[Symbol.dispose]();
    // One bfloat16 rounding of the result is 1.7e-3; quantisation of both operands about 3.6e-2. What fewer bits cost grows with k: it
    // is stated beside the rate that it buys, and only a result that is no number is wrong.
    const isRight = isFast ? Number.isFinite(own) : own < 4e-3 && error < 6e-2;
    if (!isRight) failures++;
    console.log(`${line}, ${rate.toFixed(0)} TFLOP/s${isRight ? '' : '  FAILED'}`);
  }
}

type Rates = Map<string, string[]>;

async function measureRates(b: CudaBackend, rates: Rates, { bf16 }: { readonly bf16: boolean }): Promise<void> {
  for (const [m, n, k] of rateSizes) {
    const flops = 2 * m * n * k;
    const stored = storedMatrix(n, k);
    const x = activations(b, [m, k]);
    const rate = (ms: number) => (flops / ms / 1e9).toFixed(0);
    const cells = rates.get(`${m}x${n}x${k}`) ?? [];
    rates.set(`${m}x${n}x${k}`, cells);
    if (bf16) {
      using plain = b.weight([stored], 'matrix');
      cells.push(rate(await milliseconds(b, () => void b.matmul(x, plain))));
    }
    using w = b.weight([stored], 'matrix', { format: 'fp8' });
    const rows = b.quantizeRows(x);
    cells.push(rate(await milliseconds(b, () => void b.matmul(rows, w))));
    for (const tensor of [x, rows.values, rows.scales]) tensor[Symbol.dispose]();
  }
}

async function measureFused(b: CudaBackend): Promise<void> {
  for (const rows of [44160, 5070, 1024]) {
    const [c, f] = [4096, 12288];
    const [x, y, wide] = [activations(b, [rows, c]), activations(b, [rows, c]), activations(b, [rows, 2 * f])];
    const norm = b.upload({ shape: [c], dtype: 'f32', bytes: fromFloats(base.subarray(0, c), 'f32') });
    const qkv = activations(b, [rows, 6144]);
    const table = (at: number) =>
      b.upload({ shape: [rows, 128], dtype: 'f32', bytes: fromFloats(repeated(rows * 128, at), 'f32') });
    const [cos, sin] = [table(0), table(7)];
    const head = b.upload({ shape: [128], dtype: 'f32', bytes: fromFloats(base.subarray(0, 128), 'f32') });
    const into = { k: b.zeros([rows, 8, 128], 'bf16'), v: b.zeros([rows, 8, 128], 'bf16') };
    const options = { heads: 32, kvHeads: 8, headDim: 128, eps: 1e-6, qNorm: head, kNorm: head, cos, sin };
    const copy = b.zeros([rows, c], 'bf16');
    const work: readonly (readonly [name: string, bytesPerRow: number, run: () => void])[] = [
      ['copy', 4 * c, () => b.write(copy, x)],
      ['add, then rmsNorm', 10 * c, () => void b.rmsNorm(b.add(x, y), norm, { eps: 1e-6 })],
      ['addNorm', 8 * c, () => void b.addNorm(x, y, norm, 1e-6)],
      ['quantizedNorm', 3 * c, () => void b.quantizedNorm(x, norm, 1e-6)],
      ['quantizedAddNorm', 7 * c, () => void b.quantizedAddNorm(x, y, norm, 1e-6)],
      ['quantizeRows 4096', 3 * c, () => void b.quantizeRows(x)],
      ['swiglu', 6 * f, () => void b.swiglu(wide)],
      ['quantizedSwiglu', 5 * f, () => void b.quantizedSwiglu(wide)],
      ['headsRope', 4 * 6144 + 1024, () => void b.headsRope(qkv, options, into)],
    ];
    const cells: string[] = [];
    for (const [name, bytes, run] of work) {
      const ms = await milliseconds(b, run);
      cells.push(`${name} ${(ms * 1000).toFixed(0)} us ${((bytes * rows) / ms / 1e9).toFixed(2)} TB/s`);
    }
    console.log(`${rows} rows: ${cells.join(' | ')}`);
    for (const tensor of [x, y, wide, norm, qkv, cos, sin, head, into.k, into.v, copy]) tensor[Symbol.dispose]();
  }
}

const repeated = (count: number, at: number) =>
  Float32Array.from({ length: count }, (_, i) => base[(i + at) % period] as number);

const rates: Rates = new Map();
const variants = [
  { tune: false, fp8FastAccumulation: false },
  { tune: false, fp8FastAccumulation: true },
  { tune: true, fp8FastAccumulation: false },
  { tune: true, fp8FastAccumulation: true },
];
for (const { tune, fp8FastAccumulation } of variants) {
  const b = open({ tune, fp8FastAccumulation });
  const start = performance.now();
  if (!tune && !fp8FastAccumulation) {
    console.log(`${b.name}, FP8 products: ${b.fp8Serving()}`);
    if (includes('fused')) await measureFused(b);
  }
  if (!tune && includes('errors')) await checkErrors(b, fp8FastAccumulation);
  if (includes('rates')) await measureRates(b, rates, { bf16: !fp8FastAccumulation });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`tune ${tune}, fast accumulation ${fp8FastAccumulation}: ${seconds} s`);
  await b[Symbol.asyncDispose]();
}
if (rates.size > 0) console.log('TFLOP/s: first bf16, fp8, fp8 fast; timed bf16, fp8, fp8 fast');
for (const [name, cells] of rates) console.log(`${name.padEnd(20)}${cells.map((cell) => cell.padStart(6)).join('')}`);
console.log(`${failures} failed`);
if (failures > 0) process.exitCode = 1;
