// The oracle against values worked out by hand, since everything else is held against the oracle.
import { expect, it } from 'vitest';
import type { DType, Tensor } from '../../src/backend/index.js';
import { host } from './cases/op-case.js';
import { toNumbers } from './oracle/number-formats.js';
import { activate, erf } from './oracle/rows.js';
import { createOracle } from './oracle.js';

const b = createOracle();
const floats = (shape: readonly number[], values: readonly number[]) => b.upload(host(shape, 'f32', values));
const ramp = (...shape: number[]) =>
  floats(
    shape,
    Array.from({ length: shape.reduce((a, n) => a * n, 1) }, (_, i) => i + 1),
  );

async function values(x: Tensor): Promise<number[]> {
  const { bytes, dtype } = await b.download(x);
  return [...toNumbers(bytes, dtype)];
}

it('multiplies by the transpose of merged parts and adds the bias', async () => {
  const w = b.weight([host([1, 3], 'f32', [1, 0, 0]), host([1, 3], 'bf16', [0, 1, 1])], 'matrix');
  expect(await values(b.matmul(ramp(2, 3), w, { bias: floats([2], [10, 20]) }))).toEqual([11, 25, 14, 31]);
});

it('applies FP8 scales by part and by row', async () => {
  const byRow = { ...host([2, 1], 'f8e4m3', [1, 2]), scale: host([2], 'f32', [3, 5]) };
  const byPart = { ...host([1, 1], 'f8e4m3', [4]), scale: host([1], 'f32', [0.5]) };
  expect(await values(b.matmul(floats([1, 1], [1]), b.weight([byRow, byPart], 'matrix')))).toEqual([3, 10, 2]);
});

it('moves axes', async () => {
  expect(await values(b.permute(ramp(2, 3), [1, 0]))).toEqual([1, 4, 2, 5, 3, 6]);
  expect(await values(b.permute(ramp(2, 1, 2, 2), [3, 0, 1, 2]))).toEqual([1, 3, 5, 7, 2, 4, 6, 8]);
  expect(await values(b.slice(ramp(2, 3), 1, 1, 3))).toEqual([2, 3, 5, 6]);
  expect(await values(b.concat([ramp(2, 1), ramp(2, 2)], 1))).toEqual([1, 1, 2, 2, 3, 4]);
  expect(await values(b.upsampleNearest(ramp(1, 1, 2, 1), 2))).toEqual([1, 1, 2, 2, 1, 1, 2, 2]);
});

it.each<readonly [DType, readonly number[]]>([
  ['bf16', [0.10009765625, -448, 1000, 1e30]],
  ['f16', [0.0999755859375, -448, 1000, Number.POSITIVE_INFINITY]],
  ['f8e4m3', [0.1015625, -448, 448, 448]],
  ['f8e5m2', [0.09375, -448, 1024, 57344]],
  ['i32', [0, -448, 1000, 0]],
  ['u8', [0, 64, 232, 0]],
])('rounds to %s', async (dtype, wanted) => {
  const got = await values(b.cast(b.cast(floats([4], [0.1, -448, 1000, 1e30]), dtype), 'f32'));
  if (dtype === 'bf16') expect(got[3]).toBeCloseTo(1e30, -28);
  expect(got.slice(0, 3)).toEqual(wanted.slice(0, 3));
  if (dtype === 'f16' || dtype.startsWith('f8')) expect(got[3]).toBe(wanted[3]);
});

it('attends with grouped heads, lengths and order', async () => {
  const k = floats([2, 1, 2], [0, 0, Math.log(3) * Math.SQRT2, 0]);
  const v = floats([2, 1, 2], [1, 2, 5, 6]);
  const q = floats([1, 2, 2], [1, 0, 0, 1]);
  // Head 0 weighs 1:3, head 1 weighs 1:1.
  const full = await values(b.attention(q, [{ k, v }]));
  expect(full.map((x) => Math.round(x * 1e6) / 1e6)).toEqual([4, 5, 3, 4]);
  const length = b.upload(host([1], 'i32', [1]));
  expect(await values(b.attention(q, [{ k, v, length }]))).toEqual([1, 2, 1, 2]);
  const rows = b.attention(floats([2, 1, 2], [0, 0, 0, 0]), [{ k, v }], { causal: true });
  expect(await values(rows)).toEqual([1, 2, 3, 4]);
});

it('convolves with padding, stride, dilation and groups', async () => {
  const ones = b.weight([host([1, 1, 1, 1, 3], 'f32', [1, 10, 100])], 'convolution');
  const x = ramp(1, 1, 4, 1);
  const pad = [
    [0, 0],
    [0, 0],
    [1, 1],
  ] as const;
  expect(await values(b.conv(x, ones, { padding: pad }))).toEqual([210, 321, 432, 43]);
  expect(await values(b.conv(x, ones, { padding: pad, stride: [1, 1, 2] }))).toEqual([210, 432]);
  const wide = { padding: [pad[0], pad[0], [2, 0]], dilation: [1, 1, 2], bias: floats([1], [0.5]) } as const;
  expect(await values(b.conv(x, ones, wide))).toEqual([310.5, 420.5]);
  const grouped = b.weight([host([2, 1, 1, 1, 1], 'f32', [2, 3])], 'convolution');
  expect(await values(b.conv(ramp(1, 1, 1, 2), grouped, { groups: 2 }))).toEqual([2, 6]);
});

it('transposes a convolution', async () => {
  const w = b.weight([host([1, 1, 3], 'f32', [1, 10, 100])], 'transposed-convolution');
  const options = { stride: 2, padding: 0, outputPadding: 0 };
  expect(await values(b.convTranspose(ramp(2, 1), w, options))).toEqual([1, 10, 102, 20, 200]);
  expect(await values(b.convTranspose(ramp(2, 1), w, { ...options, padding: 1, outputPadding: 1 }))).toEqual([
    10, 102, 20, 200,
  ]);
});

it('norms rows', async () => {
  const rms = await values(b.rmsNorm(floats([1, 2], [3, 4]), floats([2], [1, 2]), { eps: 0 }));
  expect(rms[0]).toBeCloseTo(3 / Math.sqrt(12.5), 6);
  expect(rms[1]).toBeCloseTo(8 / Math.sqrt(12.5), 6);
  expect(await values(b.layerNorm(floats([1, 2], [1, 3]), floats([2], [2, 2]), floats([2], [1, 1]), 0))).toEqual([
    -1, 3,
  ]);
  const front = b.rmsNorm(floats([1, 1], [5]), floats([1], [1]), { eps: 0, front: floats([1, 1], [9]) });
  expect(await values(front)).toEqual([9, 1]);
});

it('knows the error function and the activations', () => {
  expect(erf(0.5)).toBeCloseTo(0.5204998778130465, 14);
  expect(erf(-2)).toBeCloseTo(-0.9953222650189527, 14);
  expect(erf(3.5)).toBeCloseTo(0.9999992569016276, 14);
  expect(activate(1, 'silu')).toBeCloseTo(0.7310585786300049, 14);
  expect(activate(-2, 'relu2')).toBe(0);
  expect(activate(3, 'relu2')).toBe(9);
  expect(activate(1, 'gelu')).toBeCloseTo(0.8413447460685429, 14);
  expect(activate(-3, 'abs')).toBe(3);
});

it('rotates halves', async () => {
  const quarter = [floats([1, 2], [0, 0]), floats([1, 2], [1, 1])] as const;
  expect(await values(b.rope(floats([1, 1, 2], [3, 4]), ...quarter))).toEqual([-4, 3]);
});

it('combines terms by the row of the step', async () => {
  const dst = b.zeros([2], 'f32');
  const terms = [floats([2], [1, 2]), floats([2], [Number.NaN, Number.NaN])];
  const coefficients = floats([2, 2], [9, 9, 3, 0]);
  b.linearCombination(dst, { terms, coefficients, step: b.upload(host([1], 'i32', [1])) });
  expect(await values(dst)).toEqual([3, 6]);
  const far = { terms, coefficients, step: b.upload(host([1], 'i32', [2])) };
  expect(() => b.linearCombination(dst, far)).toThrow('step 2 of 2');
});

it('makes bytes, halves to even', async () => {
  expect(await values(b.toRgb8(floats([6], [-2, -1, -1 + 1 / 255, 0, 1, 2])))).toEqual([0, 0, 0, 128, 255, 255]);
});

it('splits, spreads and looks up', async () => {
  const silu = 2 / (1 + Math.exp(-2));
  expect((await values(b.swiglu(floats([1, 2], [2, 3]))))[0]).toBeCloseTo(3 * silu, 6);
  expect(await values(b.addRows(ramp(2, 2), floats([2], [10, 20]), floats([2], [0, 1])))).toEqual([1, 2, 13, 24]);
  expect(await values(b.embed(ramp(3, 2), b.upload(host([2], 'i32', [2, 0]))))).toEqual([5, 6, 1, 2]);
  expect(await values(b.mean(ramp(2, 3)))).toEqual([2, 5]);
  const [snake] = await values(b.snake(floats([1], [1]), floats([1], [0]), floats([1], [0])));
  expect(snake).toBeCloseTo(1 + Math.sin(1) ** 2, 6);
});
