// Attention and convolutions by cuDNN, without a GPU: what reaches the library, when our kernels serve, plans on disk, graphs, disposal.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HostTensor, Tensor } from '../../src/backend/index.js';
import { createBackendOn } from '../../src/cuda/cuda-backend.js';
import { attentionRecipe } from '../../src/cuda/cudnn/attention-graph.js';
import { CudnnPlans } from '../../src/cuda/cudnn/cudnn-plans.js';
import { Device } from '../../src/cuda/runtime/device.js';
import { ImageCache } from '../../src/cuda/runtime/image-cache.js';
import { Stream } from '../../src/cuda/runtime/stream.js';
import { ownWeight } from '../../src/cuda/weights/cuda-weight.js';
import { viewAddress } from '../../src/native/index.js';
import { createFakeCublasLt } from './fake-cublaslt.js';
import { createFakeCudnn, type FakeCudnnOptions } from './fake-cudnn.js';
import { createFakeDriver, type FakeLaunch } from './fake-driver.js';

const compiler = { version: 'fake', compile: () => new Uint8Array(8) };

interface Opening extends Partial<FakeCudnnOptions> {
  readonly cacheDir?: string;
  /** Why there is no library. */
  readonly missing?: string;
}

function open({ cacheDir, missing, ...options }: Opening = {}) {
  const { driver, state } = createFakeDriver({ capability: [8, 9], onLaunch: joinKeys });
  const library = createFakeCudnn({ enqueue: state.enqueue, ...options });
  let openings = 0;
  const source = {
    leastWork: 0,
    open() {
      openings++;
      if (missing) throw new Error(missing);
      return library;
    },
  };
  const b = createBackendOn(
    {
      device: new Device(driver, 0),
      compiler,
      cublasLt: createFakeCublasLt({ enqueue: state.enqueue }),
      cudnn: source,
    },
    { dtype: 'bf16', ...(cacheDir && { cacheDir }) },
  );
  const kernels = () => state.launches.map(({ kernel }) => kernel);
  return { b, library, kernels, openings: () => openings };
}

/** The kernel in TypeScript, for a driver that runs none. Arguments: k, v, lengths, struct. */
function joinKeys({ kernel, parameters }: FakeLaunch): void {
  if (kernel !== 'join_keys') return;
  const pointers = wordsAt(parameters, 4);
  const [k = 0, v = 0, lengths = 0] = pointers.slice(0, 3).map((pointer) => wordsAt(pointer, 1)[0] ?? 0);
  const at = pointers[3] ?? 0;
  // Three words a segment, two behind them, then two int32.
  const count = segmentsJoined;
  const words = wordsAt(at, 3 * count + 2);
  const tail = new DataView(viewAddress(BigInt(at + 8 * (3 * count + 2)), 8).slice().buffer);
  const lengthAt = words[3 * count] ?? 0;
  const rowUnits = words[3 * count + 1] ?? 1;
  const lastUnits = words[3 * count - 1] ?? 0;
  const last = lengthAt ? int32At(lengthAt) : lastUnits / rowUnits;
  let to = 0;
  for (let i = 0; i < count; i++) {
    const bytes = 16 * (words[2 * count + i] ?? 0);
    const kept = i === count - 1 ? 16 * last * rowUnits : bytes;
    for (const [into, from] of [
      [k, words[i] ?? 0],
      [v, words[count + i] ?? 0],
    ] as const) {
      const place = viewAddress(BigInt(into + to), bytes);
      place.fill(0);
      place.set(viewAddress(BigInt(from), kept));
    }
    to += bytes;
  }
  const out = viewAddress(BigInt(lengths), 8);
  new DataView(out.buffer, out.byteOffset, 8).setInt32(0, tail.getInt32(0, true), true);
  new DataView(out.buffer, out.byteOffset, 8).setInt32(4, tail.getInt32(4, true) + last, true);
}

let segmentsJoined = 2;

const wordsAt = (address: number, count: number): number[] =>
  [...new BigUint64Array(viewAddress(BigInt(address), 8 * count).slice().buffer)].map(Number);
const int32At = (address: number): number => new Int32Array(viewAddress(BigInt(address), 4).slice().buffer)[0] ?? 0;

const bits = (values: readonly number[]): Uint16Array =>
  new Uint16Array(values.map((value) => (new Uint32Array(Float32Array.of(value).buffer)[0] ?? 0) >>> 16));
const host = (shape: readonly number[], values: readonly number[]): HostTensor => ({
  shape,
  dtype: 'bf16',
  bytes: new Uint8Array(bits(values).buffer),
});
const integer = (value: number): HostTensor => ({
  shape: [1],
  dtype: 'i32',
  bytes: new Uint8Array(Int32Array.of(value).buffer),
});
/** Eighths between -1 and 1, exact in bfloat16. */
const numbers = (count: number, seed: number): number[] =>
  Array.from({ length: count }, (_, i) => (((i * 7 + seed * 13) % 17) - 8) / 8);

async function valuesOf(b: { download(x: Tensor): Promise<HostTensor> }, x: Tensor): Promise<number[]> {
  const { bytes } = await b.download(x);
  return [...new Uint16Array(bytes.slice().buffer)].map(
    (half) => new Float32Array(Uint32Array.of(half << 16).buffer)[0] ?? 0,
  );
}

const [rows, heads, groups, d] = [3, 4, 2, 8];

/** Attention by definition over rows `[key, group, d]`. */
function attended(q: readonly number[], k: readonly number[], v: readonly number[], factor = 1 / Math.sqrt(d)) {
  const keys = k.length / (groups * d);
  const out: number[] = [];
  for (let row = 0; row < rows; row++)
    for (let head = 0; head < heads; head++) {
      const at = (key: number, i: number) => (key * groups + Math.floor(head / (heads / groups))) * d + i;
      const weights = Array.from({ length: keys }, (_, key) => {
        let score = 0;
        for (let i = 0; i < d; i++) score += (q[(row * heads + head) * d + i] ?? 0) * (k[at(key, i)] ?? 0);
        return Math.exp(score * factor);
      });
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      for (let i = 0; i < d; i++)
        out.push(weights.reduce((sum, weight, key) => sum + (weight / total) * (v[at(key, i)] ?? 0), 0));
    }
  return out;
}

const close = (got: readonly number[], want: readonly number[]) => {
  expect(got).toHaveLength(want.length);
  expect(Math.max(...got.map((value, i) => Math.abs(value - (want[i] ?? 0))))).toBeLessThan(4e-3);
};

const rowSize = groups * d;
const [q, k, v] = [numbers(rows * heads * d, 1), numbers(5 * rowSize, 2), numbers(5 * rowSize, 3)];

describe('attention by cuDNN', () => {
  it('reads one segment where it lies', async () => {
    const { b, kernels, library } = open();
    const out = b.attention(b.upload(host([rows, heads, d], q)), [
      { k: b.upload(host([5, groups, d], k)), v: b.upload(host([5, groups, d], v)) },
    ]);
    close(await valuesOf(b, out), attended(q, k, v));
    expect(kernels()).toEqual([]);
    expect(library.state.ran).toEqual([9]);
    expect(b.report()).toMatchObject({
      cudnn: 'cuDNN 9.19.0',
      attention: ['3 on 5, 4/2 x 8: cuDNN 9.19.0 engine 9'],
    });
  });

  it('reads segments that lie back to back without a copy, others through one', async () => {
    const { b, kernels } = open();
    const x = b.upload(host([rows, heads, d], q));
    const [all, values] = [b.upload(host([5, groups, d], k)), b.upload(host([5, groups, d], v))];
    const part = (from: number, to: number) => ({ k: b.slice(all, 0, from, to), v: b.slice(values, 0, from, to) });
    close(await valuesOf(b, b.attention(x, [part(0, 2), part(2, 5)])), attended(q, k, v));
    expect(kernels()).toEqual([]);
    segmentsJoined = 2;
    close(await valuesOf(b, b.attention(x, [part(2, 5), part(0, 2)], { scale: 0.5 })), attended(q, k, v, 0.5));
    expect(kernels()).toEqual(['join_keys']);
  });

  it('puts a padded segment behind the others and never reads its padding', async () => {
    const { b } = open();
    const x = b.upload(host([rows, heads, d], q));
    const padding = Array.from({ length: 2 * rowSize }, () => Number.NaN);
    const text = {
      k: b.upload(host([4, groups, d], [...k.slice(3 * rowSize), ...padding])),
      v: b.upload(host([4, groups, d], [...v.slice(3 * rowSize), ...padding])),
      length: b.upload(integer(2)),
    };
    const own = {
      k: b.upload(host([3, groups, d], k.slice(0, 3 * rowSize))),
      v: b.upload(host([3, groups, d], v.slice(0, 3 * rowSize))),
    };
    segmentsJoined = 2;
    close(await valuesOf(b, b.attention(x, [text, own])), attended(q, k, v));
    b.write(text.length, b.upload(integer(1)));
    const shorter = attended(q, k.slice(0, 4 * rowSize), v.slice(0, 4 * rowSize));
    close(await valuesOf(b, b.attention(x, [own, text])), shorter);
  });

  it('is recorded in a graph that reads lengths when it is replayed', async () => {
    const { b, library } = open();
    const x = b.upload(host([rows, heads, d], q));
    const text = { k: b.upload(host([5, groups, d], k)), v: b.upload(host([5, groups, d], v)) };
    const length = b.upload(integer(5));
    const out = b.zeros([rows, heads, d], 'bf16');
    segmentsJoined = 1;
    const graph = b.capture(() => b.write(out, b.attention(x, [{ ...text, length }])));
    expect(library.state.ran).toEqual([]);
    graph.replay();
    close(await valuesOf(b, out), attended(q, k, v));
    b.write(length, b.upload(integer(3)));
    graph.replay();
    close(await valuesOf(b, out), attended(q, k.slice(0, 3 * rowSize), v.slice(0, 3 * rowSize)));
    expect(library.state.ran).toEqual([9, 9]);
  });

  it('is left to our kernels where it does not serve', () => {
    const { b, kernels, openings } = open();
    const x = b.upload(host([rows, heads, d], q));
    const pair = { k: b.upload(host([5, groups, d], k)), v: b.upload(host([5, groups, d], v)) };
    const square = { k: b.slice(pair.k, 0, 0, rows), v: b.slice(pair.v, 0, 0, rows) };
    const padded = { ...pair, length: b.upload(integer(2)) };
    b.attention(x, [square], { causal: true });
    b.attention(x, [padded, padded]);
    expect(kernels()).toEqual(['attention', 'attention']);
    expect(openings()).toBe(0);
    expect(b.report().attention).toEqual([
      '3 on 3 causal, 4/2 x 8: own kernel',
      '3 on 5 padded+5 padded, 4/2 x 8: own kernel',
    ]);
  });

  it('takes the next engine where one refuses, and our kernel where all do', () => {
    const run = (options: Opening) => {
      const opened = open(options);
      const { b } = opened;
      const pair = { k: b.upload(host([5, groups, d], k)), v: b.upload(host([5, groups, d], v)) };
      for (let i = 0; i < 2; i++) b.attention(b.upload(host([rows, heads, d], q)), [pair]);
      return opened;
    };
    const next = run({ engines: [9, 8], refuses: [9] });
    expect(next.library.state.ran).toEqual([8, 8]);
    const none = run({ engines: [9], refuses: [9] });
    expect(none.kernels()).toEqual(['attention', 'attention']);
    expect(none.b.report().attention).toEqual([
      '3 on 5, 4/2 x 8 by cuDNN: cudnnBackendFinalize failed with 3000: CUDNN_STATUS_3000: engine 9 does not take it',
      '3 on 5, 4/2 x 8: own kernel',
    ]);
    const missing = run({ missing: 'no library could be opened' });
    expect(missing.kernels()).toEqual(['attention', 'attention']);
    expect(missing.openings()).toBe(1);
    expect(missing.b.report().cudnn).toBe('no cuDNN: no library could be opened');
    expect(run({ version: 91400 }).b.report().cudnn).toBe('no cuDNN: cuDNN 9.14.0 is older than 9.15');
  });
});

describe('convolutions by cuDNN', () => {
  it('give a causal convolution, a strided one and one of pictures their values', async () => {
    const { b, library } = open();
    const size = [3, 4, 5] as const;
    const [channels, outputs] = [8, 4];
    const x = numbers(3 * 4 * 5 * channels, 4);
    const input = b.upload(host([...size, channels], x));
    const shift = numbers(outputs, 5);
    const bias = b.upload(host([outputs], shift));
    for (const { kernel, stride, padding } of [
      {
        kernel: [3, 3, 3],
        stride: [1, 1, 1],
        padding: [
          [2, 0],
          [1, 1],
          [1, 1],
        ],
      },
      {
        kernel: [2, 1, 1],
        stride: [2, 1, 1],
        padding: [
          [0, 0],
          [0, 0],
          [0, 0],
        ],
      },
      {
        kernel: [1, 3, 3],
        stride: [1, 2, 2],
        padding: [
          [0, 0],
          [0, 1],
          [0, 1],
        ],
      },
    ] as const) {
      const taps = kernel[0] * kernel[1] * kernel[2];
      const w = numbers(outputs * taps * channels, 6); // [O, taps, C]
      const weight = b.weight(
        [{ shape: [outputs, channels, ...kernel], dtype: 'bf16', bytes: new Uint8Array(2 * w.length) }],
        'convolution',
      );
      viewAddress(BigInt(ownWeight(weight).address), 2 * w.length).set(new Uint8Array(bits(w).buffer));
      const out = b.conv(input, weight, { bias, stride, padding });
      const [oT = 0, oH = 0, oW = 0] = out.shape;
      const want: number[] = [];
      for (let t = 0; t < oT; t++)
        for (let h = 0; h < oH; h++)
          for (let column = 0; column < oW; column++)
            for (let o = 0; o < outputs; o++) {
              let sum = shift[o] ?? 0;
              for (let tap = 0; tap < taps; tap++) {
                const place = [
                  t * stride[0] + Math.floor(tap / (kernel[1] * kernel[2])) - padding[0][0],
                  h * stride[1] + (Math.floor(tap / kernel[2]) % kernel[1]) - padding[1][0],
                  column * stride[2] + (tap % kernel[2]) - padding[2][0],
                ] as const;
                if (place.some((index, axis) => index < 0 || index >= (size[axis] ?? 0))) continue;
                const from = ((place[0] * size[1] + place[1]) * size[2] + place[2]) * channels;
                for (let c = 0; c < channels; c++)
                  sum += (x[from + c] ?? 0) * (w[(o * taps + tap) * channels + c] ?? 0);
              }
              want.push(sum);
            }
      const got = await valuesOf(b, out);
      expect(got).toHaveLength(want.length);
      expect(Math.max(...got.map((value, i) => Math.abs(value - (want[i] ?? 0))))).toBeLessThan(0.07);
    }
    expect(library.state.ran).toEqual([9, 9, 9]);
    expect(b.report().convolution).toEqual([
      '8 to 4, 3x3x3 at 3x4x5 to 3x4x5: cuDNN 9.19.0 engine 9',
      '8 to 4, 2x1x1 at 3x4x5 to 1x4x5, stride 2x1x1: cuDNN 9.19.0 engine 9',
      '8 to 4, 1x3x3 at 3x4x5 to 3x2x2, stride 1x2x2: cuDNN 9.19.0 engine 9',
    ]);
  });

  it('round a float32 bias for it, and leave odd channels and groups to our kernel', () => {
    const { b, kernels } = open();
    const weightOf = (outputs: number, channels: number) =>
      b.weight(
        [{ shape: [outputs, channels, 1, 1, 1], dtype: 'bf16', bytes: new Uint8Array(2 * outputs * channels) }],
        'convolution',
      );
    const clip = (channels: number) => b.zeros([1, 2, 2, channels], 'bf16');
    const bias = b.upload({ shape: [4], dtype: 'f32', bytes: new Uint8Array(16) });
    b.conv(clip(8), weightOf(4, 8), { bias });
    expect(kernels()).toEqual(['cast']);
    b.conv(clip(12), weightOf(4, 12));
    b.conv(clip(16), weightOf(4, 8), { groups: 2 });
    expect(kernels()).toEqual(['cast', 'conv', 'conv']);
  });
});

describe('plans', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'orrery-cudnn-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('are kept on disk: another process takes the same engine, another version its own', () => {
    const run = (options: Opening) => {
      const { b, library } = open({ ...options, cacheDir: folder });
      const pair = { k: b.upload(host([5, groups, d], k)), v: b.upload(host([5, groups, d], v)) };
      b.attention(b.upload(host([rows, heads, d], q)), [pair]);
      return library.state;
    };
    expect(run({ engines: [9, 8] })).toMatchObject({ ran: [9], restored: 0 });
    expect(readdirSync(folder).filter((name) => name.endsWith('.cubin'))).toHaveLength(1);
    expect(run({ engines: [8, 9] })).toMatchObject({ ran: [9], restored: 1 });
    expect(run({ engines: [8, 9], version: 92000 })).toMatchObject({ ran: [8], restored: 0 });
  });

  it('leave nothing behind', async () => {
    const { b, library } = open();
    const pair = { k: b.upload(host([5, groups, d], k)), v: b.upload(host([5, groups, d], v)) };
    b.attention(b.upload(host([rows, heads, d], q)), [pair]);
    expect(library.state).toMatchObject({ handles: 1 });
    await b[Symbol.asyncDispose]();
    expect(library.state).toMatchObject({ live: 0, handles: 0 });
  });

  it('are forgotten in the order of their use, those of recorded graphs never', () => {
    const { driver, state } = createFakeDriver();
    const library = createFakeCudnn({ enqueue: state.enqueue });
    const device = new Device(driver, 0);
    const stream = new Stream(device);
    const images = new ImageCache(null);
    const plans = new CudnnPlans({ device, stream, source: { open: () => library }, images });
    const recipe = (keys: number) => attentionRecipe({ rows, keys, heads, groups, d, isPadded: false });
    const recorded = plans.planFor(recipe(1));
    stream.rehearse(() => recorded && plans.run(recorded, [], 0));
    const perPlan = library.state.live;
    for (let keys = 2; keys < 700; keys++) plans.planFor(recipe(keys));
    expect(library.state.live / perPlan).toBeLessThanOrEqual(512);
    expect(plans.planFor(recipe(1))).toBe(recorded);
    plans[Symbol.dispose]();
    expect(library.state.live).toBe(0);
  });
});
