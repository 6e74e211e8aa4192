// How far a latent is from the reference.

/** Both over all values, computed in float64. */
export interface LatentComparison {
  /** Cosine of the two as vectors, -1 … 1. */
  readonly cos: number;
  /** `|a - b| / |b|`, a fraction. */
  readonly relL2: number;
}

/** @throws RangeError for latents of different lengths */
export function compareLatents(latent: Float32Array, reference: Float32Array): LatentComparison {
  if (latent.length !== reference.length)
    throw new RangeError(`a latent of ${latent.length} values cannot be compared with one of ${reference.length}`);
  let [dot, own, other, difference] = [0, 0, 0, 0];
  for (let i = 0; i < latent.length; i++) {
    const a = latent[i] as number;
    const b = reference[i] as number;
    dot += a * b;
    own += a * a;
    other += b * b;
    difference += (a - b) ** 2;
  }
  return { cos: dot / Math.sqrt(own * other), relL2: Math.sqrt(difference / other) };
}
