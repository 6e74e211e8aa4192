// Times single ops at the sizes of a large checkpoint: products, attention, convolutions, what moves bytes, and host time of launches.
// Each row: median of five batches, its rate, and where the kernels' own time is not the limit, the host's.
import type { Backend, Tensor, Weight } from '../../src/backend/index.js';
import { elementCount } from '../../src/backend/index.js';
import { openGpu } from './open-gpu.js';

const b = openGpu('bf16', { fp8Attention: process.argv.includes('--fp8-attention') });
const wanted = process.argv[2] ?? '';

/** Random bfloat16 of the size of activations, made on the device from one small upload. */
function random(shape: readonly number[], size = 1): Tensor {
  const rows = 4096;
  const seed = new Uint16Array(rows);
  for (let i = 0; i < rows; i++) {
    const bits = new Uint32Array(Float32Array.of((((i * 2654435761) >>> 0) / 2 ** 31 - 1) * size).buffer);
    seed[i] = (bits[0] ?? 0) >>> 16;
  }
  return b.scope(() => {
    const table = b.upload({ shape: [rows, 1], dtype: 'bf16', bytes: new Uint8Array(seed.buffer) });
    const count = elementCount(shape);
    const ids = new Int32Array(Math.min(count, 1 << 20));
    for (let i = 0; i < ids.length; i++) ids[i] = (Math.imul(i, 40503) ^ (i >>> 7)) & (rows - 1);
    const block = b.embed(table, b.upload({ shape: [ids.length], dtype: 'i32', bytes: new Uint8Array(ids.buffer) }));
    const out = b.zeros(shape, 'bf16');
    const line = b.view(out, [count]);
    for (let at = 0; at < count; at += ids.length) {
      const end = Math.min(count, at + ids.length);
      b.write(b.slice(line, 0, at, end), b.slice(b.view(block, [ids.length]), 0, 0, end - at));
    }
    return out;
  });
}

async function weightOf(shape: readonly number[], use: 'matrix' | 'convolution'): Promise<Weight> {
  const fan = elementCount(shape.slice(1));
  const x = random([elementCount(shape)], 1 / Math.sqrt(fan));
  const { bytes } = await b.download(x);
  x[Symbol.dispose]();
  return b.weight([{ shape, dtype: 'bf16', bytes }], use);
}

async function time(run: () => void): Promise<{ ms: number; hostMs: number }> {
  const once = () => {
    b.scope(() => {
      run();
      return null;
    });
  };
  once();
  await b.synchronize();
  let start = performance.now();
  once();
  await b.synchronize();
  const guess = Math.max(0.02, performance.now() - start);
  const count = Math.max(3, Math.min(200, Math.round(60 / guess)));
  const batches: { ms: number; hostMs: number }[] = [];
  for (let batch = 0; batch < 5; batch++) {
    start = performance.now();
    for (let i = 0; i < count; i++) once();
    const hostMs = (performance.now() - start) / count;
    await b.synchronize();
    batches.push({ ms: (performance.now() - start) / count, hostMs });
  }
  batches.sort((x, y) => x.ms - y.ms);
  return batches[2] ?? { ms: 0, hostMs: 0 };
}

async function row(name: string, work: { readonly flops?: number; readonly bytes?: number }, run: () => void) {
  const { ms, hostMs } = await time(run);
  const rate = work.flops
    ? `${(work.flops / ms / 1e9).toFixed(0)} TFLOP/s`
    : `${((work.bytes ?? 0) / ms / 1e9).toFixed(2)} TB/s`;
  console.log(`${name.padEnd(46)}${ms.toFixed(3).padStart(10)} ms  ${rate.padStart(14)}  host ${hostMs.toFixed(3)} ms`);
}

const groups: Readonly<Record<string, (b: Backend) => Promise<void>>> = {
  async gemm() {
    for (const [m, n, k] of [
      [1024, 6144, 4096],
      [1024, 4096, 12288],
      [5070, 6144, 4096],
      [5070, 4096, 4096],
      [5070, 24576, 4096],
      [5070, 4096, 12288],
      [44160, 24576, 4096],
    ] as const) {
      const [x, w] = [random([m, k]), await weightOf([n, k], 'matrix')];
      await row(`matmul ${m}x${n}x${k}`, { flops: 2 * m * n * k }, () => b.matmul(x, w));
      x[Symbol.dispose]();
      w[Symbol.dispose]();
    }
  },
  async attention() {
    for (const rows of [1024, 5070, 44160]) {
      const q = random([rows, 32, 128]);
      const pair = (length: number) => ({ k: random([length, 8, 128]), v: random([length, 8, 128]) });
      const segments = [pair(rows), pair(300)];
      await row(`attention ${rows} on ${rows}+300, 32/8 x 128`, { flops: 4 * rows * (rows + 300) * 4096 }, () =>
        b.attention(q, segments),
      );
      for (const { k, v } of segments) for (const x of [k, v]) x[Symbol.dispose]();
      q[Symbol.dispose]();
    }
    const text = { k: random([1550, 8, 128]), v: random([1550, 8, 128]) };
    const q = random([1550, 32, 128]);
    await row('attention causal 1550', { flops: 2 * 1550 * 1550 * 4096 }, () =>
      b.attention(q, [text], { causal: true }),
    );
    const point = random([1560, 1, 1024]);
    await row('attention 1560, one head of 1024', { flops: 4 * 1560 * 1560 * 1024 }, () =>
      b.attention(point, [{ k: point, v: point }]),
    );
  },
  async conv() {
    for (const [t, h, w, c, o] of [
      [13, 60, 104, 1024, 1024],
      [25, 120, 208, 512, 512],
      [9, 240, 416, 256, 256],
    ] as const) {
      const [x, weight] = [random([t, h, w, c]), await weightOf([o, c, 3, 3, 3], 'convolution')];
      const padding = [
        [2, 0],
        [1, 1],
        [1, 1],
      ] as const;
      await row(`conv ${c} to ${o} at ${t}x${h}x${w}`, { flops: 2 * 27 * t * h * w * c * o }, () =>
        b.conv(x, weight, { padding }),
      );
      x[Symbol.dispose]();
      weight[Symbol.dispose]();
    }
  },
  async memory() {
    const x = random([44160, 4096]);
    const wide = random([44160, 24576]);
    const norm = random([4096]);
    const bytes = 44160 * 4096 * 2;
    await row('rmsNorm 44160x4096', { bytes: 2 * bytes }, () => b.rmsNorm(x, norm, { eps: 1e-6 }));
    await row('add 44160x4096', { bytes: 3 * bytes }, () => b.add(x, x));
    await row('swiglu 44160x24576', { bytes: 9 * bytes }, () => b.swiglu(wide));
    const qkv = random([44160, 6144]);
    const [cos, sin] = [b.cast(random([44160, 128]), 'f32'), b.cast(random([44160, 128]), 'f32')];
    const head = random([128]);
    const into = { k: random([44160, 8, 128]), v: random([44160, 8, 128]) };
    const options = { heads: 32, kvHeads: 8, headDim: 128, eps: 1e-6, qNorm: head, kNorm: head, cos, sin };
    await row('headsRope 44160x6144', { bytes: 3 * bytes + 44160 * 1024 }, () => b.headsRope(qkv, options, into));
    const clip = random([9, 240, 416, 256]);
    const gamma = random([256]);
    const clipBytes = 9 * 240 * 416 * 256 * 2;
    await row('rmsNorm silu 256 channels', { bytes: 2 * clipBytes }, () =>
      b.rmsNorm(clip, gamma, { eps: 1e-6, activation: 'silu' }),
    );
    await row('upsampleNearest 256 channels', { bytes: 5 * clipBytes }, () => b.upsampleNearest(clip, 2));
    await row('toRgb8', { bytes: 1.5 * clipBytes }, () => b.toRgb8(clip));
    const small = random([16, 16]);
    await row('add 16x16: a launch', { bytes: 1536 }, () => b.add(small, small));
  },
};

console.log(b.name);
for (const [name, run] of Object.entries(groups)) if (name.includes(wanted)) await run(b);
const { memory, modules } = b.report();
console.log(
  `peak ${(memory.peakReserved / 2 ** 30).toFixed(2)} GiB reserved, ${(memory.peakAllocated / 2 ** 30).toFixed(2)} allocated; ` +
    `${modules.compiled} kernels compiled in ${modules.compileMs.toFixed(0)} ms`,
);
await b[Symbol.asyncDispose]();
