// cuDNN on a GPU: values of attention and convolutions against float64 sums on the host, at shapes with odd sizes, grouped heads,
// padded lengths and uneven padding; then rates beside our kernels', of work recorded in graphs; then op cases with cuDNN taking
// whatever it can, however small. Arguments: `values`, `rates` or `cases`; all three where absent. The last line counts.
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConvOptions, Tensor } from '../../src/backend/index.js';
import { elementCount } from '../../src/backend/index.js';
import { createBackendOn } from '../../src/cuda/cuda-backend.js';
import { openCublasLt } from '../../src/cuda/ffi/cublaslt.js';
import { openCudnn } from '../../src/cuda/ffi/cudnn.js';
import { openDriver } from '../../src/cuda/ffi/driver.js';
import { openNvrtc } from '../../src/cuda/ffi/nvrtc.js';
import type { CudaBackend } from '../../src/cuda/index.js';
import { createCompiler } from '../../src/cuda/runtime/compiler.js';
import { Device } from '../../src/cuda/runtime/device.js';
import { attendRow, type ConvCase, convolvePoint, floatOf, randomBits, type Three } from './cudnn-references.js';
import { runOpCases } from './op-cases.js';
import { openGpu, pythonRoots } from './open-gpu.js';

const wanted = process.argv[2] ?? '';
/** Heads of 128 go to cuDNN too, not to our kernel for Hopper. */
const b = openGpu('bf16', { hopper: false });
/** The same GPU by our kernels alone. */
const plain = openGpu('bf16', { cudnn: false });
let [passed, failed] = [0, 0];

const upload = (shape: readonly number[], bits: Uint16Array): Tensor =>
  b.upload({ shape, dtype: 'bf16', bytes: new Uint8Array(bits.buffer) });

async function bitsOf(x: Tensor): Promise<Uint16Array> {
  const { bytes } = await b.download(x);
  return new Uint16Array(bytes.slice().buffer);
}

function report(name: string, worst: number, limit: number): void {
  if (worst <= limit) passed++;
  else failed++;
  console.log(`${worst <= limit ? 'ok    ' : 'FAILED'} ${name}: error ${worst.toExponential(2)}, at most ${limit}`);
}

interface AttentionCase {
  readonly rows: number;
  readonly segments: readonly { readonly rows: number; readonly length?: number }[];
  readonly heads: number;
  readonly groups: number;
  readonly d: number;
}

async function checkAttention({ rows, segments, heads, groups, d }: AttentionCase): Promise<void> {
  const shown = segments.map(({ rows: all, length }) => (length === undefined ? all : `${length}/${all}`)).join('+');
  const name = `attention ${rows} on ${shown}, ${heads}/${groups} x ${d}`;
  const q = randomBits(rows * heads * d, 1, 2);
  const host = segments.map(({ rows: count, length = count }, i) => {
    const k = randomBits(count * groups * d, 2 + 2 * i, 2);
    const v = randomBits(count * groups * d, 3 + 2 * i);
    // What must not be read is no number.
    for (const bits of [k, v]) bits.fill(0x7fc0, length * groups * d);
    return { k, v, length };
  });
  const x = upload([rows, heads, d], q);
  const on = host.map(({ k, v, length }, i) => {
    const { rows: count = 0, length: given } = segments[i] ?? {};
    return {
      k: upload([count, groups, d], k),
      v: upload([count, groups, d], v),
      ...(given !== undefined && {
        length: b.upload({ shape: [1], dtype: 'i32', bytes: new Uint8Array(Int32Array.of(length).buffer) }),
      }),
    };
  });
  const out = b.attention(x, on);
  const got = await bitsOf(out);
  let worst = 0;
  for (let sample = 0; sample < 12; sample++) {
    const row = sample === 0 ? rows - 1 : (sample * 7919) % rows;
    const head = (sample * 5 + 1) % heads;
    const want = attendRow(host, { q, row, head, heads, groups, d });
    for (let i = 0; i < d; i++) {
      const error = Math.abs(floatOf(got, (row * heads + head) * d + i) - (want[i] as number));
      worst = Number.isFinite(error) ? Math.max(worst, error) : Infinity;
    }
  }
  report(name, worst, 1e-2);
  for (const t of [x, out, ...on.flatMap(({ k, v }) => [k, v])]) t[Symbol.dispose]();
}

async function checkConv({ size, channels, outputs, kernel, options }: ConvCase): Promise<void> {
  const name = `conv ${channels} to ${outputs}, ${kernel.join('x')} at ${size.join('x')} ${JSON.stringify(options)}`;
  const taps = elementCount(kernel);
  const [x, w] = [randomBits(elementCount(size) * channels, 1), randomBits(outputs * channels * taps, 2)];
  const shift = randomBits(outputs, 3, 30);
  const weight = b.weight(
    [{ shape: [outputs, channels, ...kernel], dtype: 'bf16', bytes: new Uint8Array(w.buffer) }],
    'convolution',
  );
  const [input, bias] = [upload([...size, channels], x), b.cast(upload([outputs], shift), 'f32')];
  const out = b.conv(input, weight, { ...options, bias });
  const got = await bitsOf(out);
  const [oT = 1, oH = 1, oW = 1] = out.shape;
  let worst = 0;
  for (let sample = 0; sample < 200; sample++) {
    // The corners, where padding is, and points between.
    const corner = (axis: number, length: number) =>
      sample < 8 ? ((sample >> axis) & 1) * (length - 1) : (sample * (7 + 4 * axis) + axis) % length;
    const point: Three = [corner(0, oT), corner(1, oH), corner(2, oW)];
    const o = (sample * 31) % outputs;
    const want = convolvePoint({ x, w, size, channels, kernel, options, point, o }) + floatOf(shift, o);
    const at = ((point[0] * oH + point[1]) * oW + point[2]) * outputs + o;
    const error = Math.abs(floatOf(got, at) - want) / (1 + Math.abs(want));
    worst = Number.isFinite(error) ? Math.max(worst, error) : Infinity;
  }
  report(name, worst, 6e-3);
  for (const t of [input, bias, out, weight]) t[Symbol.dispose]();
}

const same: NonNullable<ConvOptions['padding']> = [
  [0, 0],
  [1, 1],
  [1, 1],
];
const causal: NonNullable<ConvOptions['padding']> = [
  [2, 0],
  [1, 1],
  [1, 1],
];

async function checkValues(): Promise<void> {
  for (const item of [
    { rows: 1300, segments: [{ rows: 1300 }], heads: 32, groups: 8, d: 128 },
    { rows: 1301, segments: [{ rows: 1301 }, { rows: 300 }], heads: 32, groups: 8, d: 128 },
    { rows: 1301, segments: [{ rows: 1301 }, { rows: 384, length: 299 }], heads: 32, groups: 8, d: 128 },
    { rows: 777, segments: [{ rows: 384, length: 1 }, { rows: 777 }], heads: 32, groups: 8, d: 128 },
    { rows: 1111, segments: [{ rows: 1111 }, { rows: 128, length: 77 }], heads: 24, groups: 24, d: 64 },
    { rows: 1560, segments: [{ rows: 1560 }], heads: 1, groups: 1, d: 1024 },
  ])
    await attempt(() => checkAttention(item));
  for (const item of [
    { size: [5, 30, 52], channels: 256, outputs: 256, kernel: [3, 3, 3], options: { padding: causal } },
    { size: [5, 30, 52], channels: 256, outputs: 512, kernel: [3, 3, 3], options: { padding: same } },
    { size: [6, 30, 52], channels: 512, outputs: 1024, kernel: [3, 1, 1], options: {} },
    { size: [6, 30, 52], channels: 512, outputs: 512, kernel: [3, 1, 1], options: { stride: [2, 1, 1] } },
    { size: [5, 60, 104], channels: 256, outputs: 256, kernel: [1, 3, 3], options: { padding: same } },
    {
      size: [5, 60, 104],
      channels: 160,
      outputs: 160,
      kernel: [1, 3, 3],
      options: {
        stride: [1, 2, 2],
        padding: [
          [0, 0],
          [0, 1],
          [0, 1],
        ],
      },
    },
    { size: [5, 60, 104], channels: 512, outputs: 256, kernel: [1, 1, 1], options: {} },
    { size: [5, 30, 52], channels: 48, outputs: 1024, kernel: [3, 3, 3], options: { padding: causal } },
    { size: [5, 60, 104], channels: 256, outputs: 12, kernel: [3, 3, 3], options: { padding: causal } },
  ] as const)
    await attempt(() => checkConv(item));
}

/** Recorded work replayed gives the bits that running it gives, also after a length on the device changed. */
async function checkGraph(): Promise<void> {
  const [rows, heads, groups, d] = [1301, 32, 8, 128];
  const x = upload([rows, heads, d], randomBits(rows * heads * d, 1, 2));
  const keys = [rows, 384].map((count, i) => ({
    k: upload([count, groups, d], randomBits(count * groups * d, 2 + i, 2)),
    v: upload([count, groups, d], randomBits(count * groups * d, 4 + i)),
  }));
  const int = (value: number) =>
    b.upload({ shape: [1], dtype: 'i32', bytes: new Uint8Array(Int32Array.of(value).buffer) });
  const length = int(299);
  const run = () => b.attention(x, [keys[0] ?? fail(), { ...(keys[1] ?? fail()), length }]);
  const held = b.zeros([rows, heads, d], 'bf16');
  const graph = b.capture(() => b.write(held, run()));
  let different = 0;
  for (const now of [299, 17]) {
    b.write(length, int(now));
    graph.replay();
    const [replayed, direct] = [await bitsOf(held), await bitsOf(run())];
    for (let i = 0; i < direct.length; i++) if (replayed[i] !== direct[i]) different++;
    console.log(`  attention's bits: ${createHash('sha256').update(direct).digest('hex').slice(0, 16)}`);
  }
  report('attention recorded and replayed, elements that differ', different, 0);
  const clip = upload([5, 60, 104, 256], randomBits(5 * 60 * 104 * 256, 7));
  const bytes = new Uint8Array(randomBits(256 * 256 * 27, 8, 0.02).buffer);
  const weight = b.weight([{ shape: [256, 256, 3, 3, 3], dtype: 'bf16', bytes }], 'convolution');
  const convolved = b.zeros(clip.shape, 'bf16');
  const second = b.capture(() => b.write(convolved, b.conv(clip, weight, { padding: causal })));
  second.replay();
  const [replayed, direct] = [await bitsOf(convolved), await bitsOf(b.conv(clip, weight, { padding: causal }))];
  report(
    'convolution recorded and replayed',
    Buffer.compare(Buffer.from(replayed.buffer), Buffer.from(direct.buffer)),
    0,
  );
  console.log(`  convolution's bits: ${createHash('sha256').update(direct).digest('hex').slice(0, 16)}`);
}

function fail(): never {
  throw new Error('no segment');
}

async function attempt(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    failed++;
    console.log(`FAILED ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
}

/** Random values of any size, tiled from one upload. */
function fill(shape: readonly number[], size = 1): Tensor {
  const count = elementCount(shape);
  const block = randomBits(Math.min(count, 1 << 22), 9, size);
  return b.scope(() => {
    const from = upload([block.length], block);
    const line = b.view(b.zeros(shape, 'bf16'), [count]);
    for (let at = 0; at < count; at += block.length) {
      const end = Math.min(count, at + block.length);
      b.write(b.slice(line, 0, at, end), b.slice(from, 0, 0, end - at));
    }
    return b.view(line, shape);
  });
}

/** Time of one run in a recorded graph of several, milliseconds, without what the host adds. */
async function timed(on: CudaBackend, flops: number, run: () => Tensor): Promise<number> {
  const once = () =>
    on.scope(() => {
      run();
      return null;
    });
  const count = Math.max(1, Math.min(40, Math.round(2e13 / flops)));
  using graph = on.capture(() => {
    for (let i = 0; i < count; i++) once();
  });
  const times: number[] = [];
  for (let batch = 0; batch < 4; batch++) {
    const from = performance.now();
    graph.replay();
    await on.synchronize();
    times.push((performance.now() - from) / count);
  }
  // The first replay uploads the graph.
  return times.slice(1).sort((x, y) => x - y)[1] ?? 0;
}

async function rate(name: string, flops: number, run: (on: CudaBackend) => Tensor): Promise<void> {
  const shown: string[] = [];
  for (const on of [b, plain]) {
    const ms = await timed(on, flops, () => run(on));
    shown.push(`${ms.toFixed(3).padStart(9)} ms ${(flops / ms / 1e9).toFixed(0).padStart(4)} TFLOP/s`);
  }
  console.log(`${name.padEnd(42)}${shown[0]}, ours ${shown[1]}`);
}

async function measureRates(): Promise<void> {
  for (const rows of [1024, 5070, 44160]) {
    const q = fill([rows, 32, 128], 2);
    const keys = [rows, 384].map((length) => ({ k: fill([length, 8, 128], 2), v: fill([length, 8, 128]) }));
    const length = b.upload({ shape: [1], dtype: 'i32', bytes: new Uint8Array(Int32Array.of(300).buffer) });
    const padded = keys.map((pair, i) => (i === 1 ? { ...pair, length } : pair));
    await rate(`attention ${rows} on itself`, 4 * rows * rows * 4096, (on) => on.attention(q, keys.slice(0, 1)));
    await rate(`attention ${rows} on ${rows}+300 of 384`, 4 * rows * (rows + 300) * 4096, (on) =>
      on.attention(q, padded),
    );
    for (const x of [q, length, ...keys.flatMap(({ k, v }) => [k, v])]) x[Symbol.dispose]();
  }
  const point = fill([3600, 1, 1024]);
  await rate('attention 3600, one head of 1024', 4 * 3600 * 3600 * 1024, (on) =>
    on.attention(point, [{ k: point, v: point }]),
  );
  point[Symbol.dispose]();
  for (const [t, h, w, c, o, k] of [
    [13, 60, 104, 1024, 1024, [3, 3, 3]],
    [25, 120, 208, 512, 512, [3, 3, 3]],
    [9, 240, 416, 256, 256, [3, 3, 3]],
    [9, 240, 416, 256, 12, [3, 3, 3]],
    [12, 60, 104, 1024, 2048, [3, 1, 1]],
    [9, 240, 416, 512, 512, [1, 3, 3]],
  ] as const) {
    const taps = elementCount(k);
    const bytes = new Uint8Array(randomBits(o * c * taps, 4, 1 / Math.sqrt(c * taps)).buffer);
    const weight = b.weight([{ shape: [o, c, ...k], dtype: 'bf16', bytes }], 'convolution');
    const [x, bias] = [fill([t, h, w, c]), fill([o])];
    const padding = k[0] === 3 && k[1] === 1 ? undefined : k[0] === 1 ? same : causal;
    const frames = padding ? t : t - 2;
    await rate(`conv ${c} to ${o}, ${k.join('x')} at ${t}x${h}x${w}`, 2 * taps * frames * h * w * c * o, (on) =>
      on.conv(x, weight, { bias, ...(padding && { padding }) }),
    );
    for (const item of [x, bias, weight]) item[Symbol.dispose]();
  }
}

/** Op cases of attention and convolutions with cuDNN taking the smallest of them too. */
async function checkCases(): Promise<void> {
  const roots = pythonRoots();
  const backend = createBackendOn(
    {
      device: new Device(openDriver(), 0),
      compiler: createCompiler(openNvrtc(roots)),
      cublasLt: openCublasLt(roots),
      cudnn: { open: () => openCudnn(roots), leastWork: 0 },
    },
    { dtype: 'bf16', guarded: true, hopper: false, cacheDir: join(tmpdir(), 'orrery-kernels') },
  );
  const strayWrites = () => backend.strayWrites();
  for (const op of ['attention', 'conv']) {
    const tally = await runOpCases({ backend, strayWrites, [Symbol.asyncDispose]: async () => {} }, op);
    passed += tally.passed;
    failed += tally.failed;
  }
  const { attention, convolution } = backend.report();
  for (const line of [...attention, ...convolution].filter((text) => text.includes('by cuDNN'))) console.log(line);
  const served = [...attention, ...convolution].filter((line) => line.includes('engine')).length;
  console.log(`${served} shapes of op cases by cuDNN`);
  await backend[Symbol.asyncDispose]();
}

const does = (part: string) => wanted === '' || wanted === part;
if (does('values')) {
  await checkValues();
  await attempt(checkGraph);
}
if (does('rates')) await measureRates();
if (does('cases')) await checkCases();
const { cudnn, attention, convolution } = b.report();
console.log(cudnn);
for (const line of [...attention, ...convolution]) console.log(line);
for (const backend of [plain, b]) await backend[Symbol.asyncDispose]();
console.log(`${passed} passed, ${failed} failed`);
if (failed > 0) process.exitCode = 1;
