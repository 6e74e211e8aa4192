// Latents to rough colours without a network: one linear map per checkpoint, fitted once by least squares.

/** A map from the channels of a latent pixel to red, green and blue. */
export interface Projection {
  readonly channels: number;
  /** `[3][channels + 1]`, the constant last; colours are 0 … 255. */
  readonly weights: Float64Array;
}

/** Keeps the solution small where samples say nothing, in squared units of a latent. */
const ridge = 1e-3;

/**
 * The map that fits samples best in the mean square.
 * @param latents `[N, channels]`
 * @param colours `[N, 3]`, 0 … 255
 * @throws RangeError where the two do not belong together
 */
export function fitProjection(latents: Float32Array, colours: ArrayLike<number>, channels: number): Projection {
  const count = latents.length / channels;
  if (!Number.isInteger(count) || count < 1 || colours.length !== 3 * count) {
    throw new RangeError(
      `${latents.length} latents of ${channels} channels do not fit ${colours.length} colour values`,
    );
  }
  const size = channels + 1;
  const matrix = new Float64Array(size * size);
  const right = new Float64Array(3 * size);
  const row = new Float64Array(size).fill(1);
  for (let n = 0; n < count; n++) {
    for (let c = 0; c < channels; c++) row[c] = latents[n * channels + c] as number;
    for (let i = 0; i < size; i++) {
      for (let j = 0; j < size; j++)
        matrix[i * size + j] = (matrix[i * size + j] as number) + (row[i] as number) * (row[j] as number);
      for (let k = 0; k < 3; k++)
        right[k * size + i] = (right[k * size + i] as number) + (row[i] as number) * (colours[3 * n + k] as number);
    }
  }
  for (let c = 0; c < channels; c++) matrix[c * size + c] = (matrix[c * size + c] as number) + ridge * count;
  return { channels, weights: solveSymmetric(matrix, right, size) };
}

/** Latent pixels `[N, channels]` to RGB bytes `[N, 3]`. */
export function project({ channels, weights }: Projection, latents: Float32Array): Uint8Array {
  const count = latents.length / channels;
  const size = channels + 1;
  const rgb = new Uint8Array(3 * count);
  for (let n = 0; n < count; n++) {
    for (let k = 0; k < 3; k++) {
      let value = weights[k * size + channels] as number;
      for (let c = 0; c < channels; c++)
        value += (weights[k * size + c] as number) * (latents[n * channels + c] as number);
      rgb[3 * n + k] = Math.max(0, Math.min(255, Math.round(value)));
    }
  }
  return rgb;
}

/** Solves A x = b for each row of `right` by Cholesky's factors; A is symmetric and positive. */
function solveSymmetric(matrix: Float64Array, right: Float64Array, size: number): Float64Array {
  const at = (i: number, j: number) => matrix[i * size + j] as number;
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = at(i, j);
      for (let k = 0; k < j; k++) sum -= at(i, k) * at(j, k);
      matrix[i * size + j] = i === j ? Math.sqrt(Math.max(sum, 1e-12)) : sum / at(j, j);
    }
  }
  for (let start = 0; start < right.length; start += size) {
    const x = right.subarray(start, start + size);
    for (let i = 0; i < size; i++) {
      for (let k = 0; k < i; k++) x[i] = (x[i] as number) - at(i, k) * (x[k] as number);
      x[i] = (x[i] as number) / at(i, i);
    }
    for (let i = size - 1; i >= 0; i--) {
      for (let k = i + 1; k < size; k++) x[i] = (x[i] as number) - at(k, i) * (x[k] as number);
      x[i] = (x[i] as number) / at(i, i);
    }
  }
  return right;
}
