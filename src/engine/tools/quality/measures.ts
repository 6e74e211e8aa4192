// How far frames and vectors are from a reference's, and what many such distances come to.
import { compareLatents } from '../../flash/compare-latents.js';

/**
 * Peak signal to noise of each frame, dB; Infinity for a frame that is identical.
 * @param frames RGB bytes, frames of `frameBytes` bytes one after another
 * @throws RangeError for clips of different lengths
 */
export function framePsnr(frames: Uint8Array, reference: Uint8Array, frameBytes: number): number[] {
  if (frames.length !== reference.length)
    throw new RangeError(`a clip of ${frames.length} bytes cannot be compared with one of ${reference.length}`);
  const values: number[] = [];
  for (let start = 0; start < frames.length; start += frameBytes) {
    let squares = 0;
    for (let i = start; i < start + frameBytes; i++) {
      const difference = (frames[i] as number) - (reference[i] as number);
      squares += difference * difference;
    }
    values.push(10 * Math.log10((255 ** 2 * frameBytes) / squares));
  }
  return values;
}

export interface FrameFigures {
  /** dB, over the frames that differ; null where none does. */
  readonly mean: number | null;
  /** dB, of the worst frame; null where none differs. */
  readonly min: number | null;
  readonly frames: number;
  /** Frames without any difference: they have no PSNR. */
  readonly identical: number;
}

export interface LatentFigures {
  readonly cosine: number;
  readonly worstCosine: number;
  /** `|a - b| / |b|`, a fraction. */
  readonly relativeL2: number;
  readonly worstRelativeL2: number;
}

export interface VelocityFigures {
  /** Mean cosine of each step, over prompts; null for steps that were not compared. */
  readonly steps: readonly (number | null)[];
  /** Over all steps. */
  readonly mean: number;
  /** The lowest of `steps`. */
  readonly worstStep: number;
  /** Of one step of one prompt. */
  readonly min: number;
}

/** Gathers the distances of one variant, prompt by prompt. */
export class Tally {
  readonly #psnr: number[] = [];
  readonly #latents: { readonly cos: number; readonly relL2: number }[] = [];
  readonly #velocities: (number | null)[][] = [];

  frames(frames: Uint8Array, reference: Uint8Array, frameBytes: number): void {
    this.#psnr.push(...framePsnr(frames, reference, frameBytes));
  }

  latents(latents: Float32Array, reference: Float32Array): void {
    this.#latents.push(compareLatents(latents, reference));
  }

  /** Velocities by step, null where there is none to compare. */
  velocities(velocities: readonly (Float32Array | null)[], reference: readonly (Float32Array | null)[]): void {
    const cosines = velocities.map((velocity, step) => {
      const expected = reference[step];
      return velocity && expected ? compareLatents(velocity, expected).cos : null;
    });
    this.#velocities.push(cosines);
  }

  /** Whether nothing was gathered yet. */
  get isEmpty(): boolean {
    return this.#psnr.length === 0 && this.#latents.length === 0 && this.#velocities.length === 0;
  }

  get frameFigures(): FrameFigures | null {
    if (this.#psnr.length === 0) return null;
    const differing = this.#psnr.filter((value) => value !== Number.POSITIVE_INFINITY);
    const isAny = differing.length > 0;
    return {
      mean: isAny ? mean(differing) : null,
      min: isAny ? Math.min(...differing) : null,
      frames: this.#psnr.length,
      identical: this.#psnr.length - differing.length,
    };
  }

  get latentFigures(): LatentFigures | null {
    if (this.#latents.length === 0) return null;
    const cosines = this.#latents.map(({ cos }) => cos);
    const distances = this.#latents.map(({ relL2 }) => relL2);
    return {
      cosine: mean(cosines),
      worstCosine: Math.min(...cosines),
      relativeL2: mean(distances),
      worstRelativeL2: Math.max(...distances),
    };
  }

  get velocityFigures(): VelocityFigures | null {
    const [first = []] = this.#velocities;
    const steps = first.map((_, step) => {
      const found = present(this.#velocities.map((cosines) => cosines[step] ?? null));
      return found.length === 0 ? null : mean(found);
    });
    const all = present(this.#velocities.flat());
    if (all.length === 0) return null;
    return { steps, mean: mean(all), worstStep: Math.min(...present(steps)), min: Math.min(...all) };
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function present(values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null);
}
