// The filter of SeaCache: what the best linear denoiser keeps of a noisy latent at a noise level, by frequency. Source:
// arXiv 2602.18993; on each axis the signal's power is taken to fall as frequency^-p.

/** Lengths of a latent clip's axes. */
export interface ClipAxes {
  readonly frames: number;
  readonly rows: number;
  readonly columns: number;
}

const tiny = 1e-16;

/**
 * Gains `[columns, rows, frames]` at a noise level: the product over the axes of `a S / (a^2 S + sigma^2)` with a = 1 - sigma and
 * S = f^-p, scaled to a mean of one. f counts cycles per element, 0 to 0.5.
 */
export function seaGains({ frames, rows, columns }: ClipAxes, sigma: number, power: number): Float32Array {
  const [t, h, w] = [frames, rows, columns].map((length) => axisGains(length, sigma, power));
  const gains = new Float64Array(columns * rows * frames);
  let [at, sum] = [0, 0];
  for (const gw of w ?? [])
    for (const gh of h ?? [])
      for (const gt of t ?? []) {
        const gain = gw * gh * gt;
        gains[at++] = gain;
        sum += gain;
      }
  const mean = sum / gains.length;
  return Float32Array.from(gains, (gain) => (mean > 0 && Number.isFinite(mean) ? gain / mean : gain));
}

function axisGains(length: number, sigma: number, power: number): number[] {
  const a = 1 - sigma;
  return Array.from({ length }, (_, k) => {
    const frequency = Math.min(k, length - k) / length;
    const signal = 1 / (frequency ** power + tiny);
    return (a * signal) / (a * a * signal + sigma * sigma + tiny);
  });
}

/**
 * The Hartley matrix `cas(2 pi i k / n) / sqrt(n)`, row by row: real, symmetric and its own inverse. A filter whose gains are
 * equal at k and n - k is diagonal between two of them, as it is between two Fourier transforms.
 */
export function hartleyMatrix(length: number): Float32Array {
  const scale = 1 / Math.sqrt(length);
  const values = new Float32Array(length * length);
  for (let i = 0; i < length; i++)
    for (let k = 0; k < length; k++) {
      const angle = (2 * Math.PI * ((i * k) % length)) / length;
      values[i * length + k] = scale * (Math.cos(angle) + Math.sin(angle));
    }
  return values;
}
