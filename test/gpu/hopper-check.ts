// Holds the Hopper attention kernel against float64 on sampled rows, at sizes around its tiles and at a large checkpoint's.
import type { KeySegment } from '../../src/backend/index.js';
import { fromFloats, toFloats } from '../backend/oracle/number-formats.js';
import { openGpu } from './open-gpu.js';

interface Sizes {
  readonly rows: number;
  readonly heads: number;
  readonly groups: number;
  /** Rows of each key segment, and how many of them count. */
  readonly keys: readonly (readonly [rows: number, count: number])[];
  readonly causal?: boolean;
}

const d = 128;
const fp8 = process.argv[2] === 'fp8';
const limit = fp8 ? 8e-2 : 8e-3;
const all: readonly Sizes[] = [
  { rows: 1, heads: 4, groups: 1, keys: [[1, 1]] },
  { rows: 64, heads: 4, groups: 1, keys: [[176, 176]] },
  { rows: 130, heads: 8, groups: 2, keys: [[77, 77]] },
  { rows: 257, heads: 4, groups: 4, keys: [[352, 352]] },
  {
    rows: 300,
    heads: 32,
    groups: 8,
    keys: [
      [300, 300],
      [64, 17],
    ],
  },
  {
    rows: 1000,
    heads: 32,
    groups: 8,
    keys: [
      [1000, 1000],
      [512, 300],
    ],
  },
  {
    rows: 1000,
    heads: 32,
    groups: 8,
    keys: [
      [1000, 1000],
      [512, 0],
    ],
  },
  {
    rows: 129,
    heads: 8,
    groups: 2,
    keys: [
      [700, 530],
      [200, 200],
      [90, 1],
    ],
  },
  { rows: 64, heads: 8, groups: 2, keys: [[64, 64]], causal: true },
  { rows: 1550, heads: 32, groups: 8, keys: [[1550, 1550]], causal: true },
  {
    rows: 5070,
    heads: 32,
    groups: 8,
    keys: [
      [5070, 5070],
      [2816, 300],
    ],
  },
];

let state = 12345;
function normal(): number {
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 1) / 4294967297;
  };
  return Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next());
}

const b = openGpu('bf16', { fp8Attention: fp8 });
let failed = 0;
for (const { rows, heads, groups, keys, causal = false } of all) {
  const random = (count: number, size: number, poisonFrom = count) => {
    const values = new Float32Array(count);
    for (let i = 0; i < count; i++) values[i] = i < poisonFrom ? size * normal() : Number.NaN;
    return values;
  };
  const upload = (values: Float32Array, shape: readonly number[]) => {
    const bytes = fromFloats(values, 'bf16');
    return { tensor: b.upload({ shape, dtype: 'bf16', bytes }), values: toFloats(bytes, 'bf16') };
  };
  const q = upload(random(rows * heads * d, 1.5), [rows, heads, d]);
  const segments = keys.map(([count, used]) => {
    const shape = [count, groups, d];
    const [k, v] = [0, 1].map(() => upload(random(count * groups * d, 1, used * groups * d), shape));
    if (!k || !v) throw new Error('no keys');
    const length = b.upload({ shape: [1], dtype: 'i32', bytes: new Uint8Array(Int32Array.of(used).buffer) });
    const segment: KeySegment = used === count ? { k: k.tensor, v: v.tensor } : { k: k.tensor, v: v.tensor, length };
    return { segment, k: k.values, v: v.values, used };
  });
  const out = b.attention(
    q.tensor,
    segments.map(({ segment }) => segment),
    { causal },
  );
  const again = b.attention(
    q.tensor,
    segments.map(({ segment }) => segment),
    { causal },
  );
  const [found, second] = [await b.download(out), await b.download(again)];
  const isSame = Buffer.compare(found.bytes, second.bytes) === 0;
  const values = toFloats(found.bytes, 'bf16');
  let [error, size] = [0, 0];
  for (let sample = 0; sample < 96; sample++) {
    const row = sample < 2 ? sample * (rows - 1) : Math.floor(rows * Math.abs(Math.sin(sample * 7.1)));
    const head = (sample * 5) % heads;
    const wanted = reference(q.values.subarray((row * heads + head) * d), {
      head,
      row,
      groups,
      heads,
      causal,
      segments,
    });
    for (let i = 0; i < d; i++) {
      const mine = values[(row * heads + head) * d + i] ?? Number.NaN;
      error += (mine - (wanted[i] ?? 0)) ** 2;
      size += (wanted[i] ?? 0) ** 2;
    }
  }
  const relative = Math.sqrt(error / size);
  const isRight = relative <= limit && isSame && !values.some(Number.isNaN);
  if (!isRight) failed++;
  const name = `${rows} on ${keys.map(([count, used]) => `${used}/${count}`).join(' + ')}, ${heads}/${groups}${causal ? ' causal' : ''}`;
  console.log(
    `${isRight ? 'ok    ' : 'FAILED'} ${name.padEnd(48)} ${relative.toExponential(2)}${isSame ? '' : ' DIFFERS BETWEEN RUNS'}`,
  );
  for (const x of [q.tensor, out, again]) x[Symbol.dispose]();
}

function reference(
  q: Float32Array,
  at: {
    readonly head: number;
    readonly row: number;
    readonly groups: number;
    readonly heads: number;
    readonly causal: boolean;
    readonly segments: readonly { readonly k: Float32Array; readonly v: Float32Array; readonly used: number }[];
  },
): Float64Array {
  const group = Math.floor(at.head / (at.heads / at.groups));
  const scores: number[] = [];
  const places: { readonly v: Float32Array; readonly start: number }[] = [];
  for (const { k, v, used } of at.segments)
    for (let i = 0; i < (at.causal ? Math.min(used, at.row + 1) : used); i++) {
      const start = (i * at.groups + group) * d;
      let dot = 0;
      for (let j = 0; j < d; j++) dot += (q[j] as number) * (k[start + j] as number);
      scores.push(dot / Math.sqrt(d));
      places.push({ v, start });
    }
  const most = scores.reduce((a, x) => Math.max(a, x), -Infinity);
  const weights = scores.map((x) => Math.exp(x - most));
  const total = weights.reduce((a, x) => a + x, 0);
  const sums = new Float64Array(d);
  for (const [i, { v, start }] of places.entries())
    for (let j = 0; j < d; j++)
      sums[j] = (sums[j] as number) + ((weights[i] as number) * (v[start + j] as number)) / total;
  return sums;
}

await b[Symbol.asyncDispose]();
console.log(`${all.length - failed} passed, ${failed} failed`);
if (failed > 0) process.exitCode = 1;
