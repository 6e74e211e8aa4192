// The blur control: means over squares of about 10 pixels, enlarged by cubic convolution.

const square = 10;
const clampIndex = (i: number, count: number) => Math.min(Math.max(i, 0), count - 1);

/** Keys's cubic kernel with a = -0.75. */
function cubic(distance: number): number {
  const [a, d] = [-0.75, Math.abs(distance)];
  if (d <= 1) return (a + 2) * d ** 3 - (a + 3) * d ** 2 + 1;
  return d < 2 ? a * d ** 3 - 5 * a * d ** 2 + 8 * a * d - 4 * a : 0;
}

/** Shrinks and enlarges one axis of [outer, count, inner]. */
function resample(values: Float64Array, outer: number, count: number, inner: number): Float64Array {
  const few = Math.max(Math.floor(count / square), 1);
  const small = new Float64Array(outer * few * inner);
  const result = new Float64Array(values.length);
  for (let o = 0; o < outer; o++) {
    for (let i = 0; i < few; i++) {
      const [begin, end] = [Math.floor((i * count) / few), Math.ceil(((i + 1) * count) / few)];
      for (let j = begin; j < end; j++)
        for (let k = 0; k < inner; k++)
          small[(o * few + i) * inner + k] =
            (small[(o * few + i) * inner + k] as number) +
            (values[(o * count + j) * inner + k] as number) / (end - begin);
    }
    for (let j = 0; j < count; j++) {
      const at = ((j + 0.5) * few) / count - 0.5;
      for (let tap = Math.floor(at) - 1; tap <= Math.floor(at) + 2; tap++) {
        const weight = cubic(at - tap);
        const from = (o * few + clampIndex(tap, few)) * inner;
        for (let k = 0; k < inner; k++)
          result[(o * count + j) * inner + k] =
            (result[(o * count + j) * inner + k] as number) + weight * (small[from + k] as number);
      }
    }
  }
  return result;
}

/** A picture [height, width, 3] blurred. */
export function blurred(picture: Float64Array, width: number, height: number): Float64Array {
  return resample(resample(picture, height, width, 3), 1, height, width * 3);
}
