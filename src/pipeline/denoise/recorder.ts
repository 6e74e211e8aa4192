// Intermediate values for comparison with a reference: who passes a recorder to `generate` gets them as host arrays.

/**
 * Receives values as they are made. Keys, per chunk C and step S: `C/encoded/N` (in order),
 * `C/BRANCH/positions`, `C/start/MODALITY/latents`,
 * `C/S/BRANCH/MODALITY/velocity` and `C/S/MODALITY/latents` (after the step). Vision is given `[C, T, H, W]`, sound `[C, T]`,
 * action `[T, dim]`: the order references use. Velocities of clean frames are zero.
 */
export interface Recorder {
  record(key: string, shape: readonly number[], values: Float32Array): void;
  /** Latents to go on with instead of those just recorded under a key, in the same order; undefined keeps them. */
  replace?(key: string): Float32Array | undefined;
}
