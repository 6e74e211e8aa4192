// What is generated: one latent tensor per modality, with the parts that are given and stay clean.
import type { GenSegment } from '../../models/cosmos3-transformer/index.js';
import type { ItemLayout } from '../conditioning/sequence.js';

/** Standard normal numbers, one stream; each tensor is one draw. */
export interface NoiseSource {
  normal(count: number): Float32Array;
}

export type Modality = GenSegment['kind'];

/** One modality of the result, frames along axis 0: vision `[T, H, W, C]`, sound `[T, C]`, action `[T, dim]`. */
export interface Target {
  readonly item: ItemLayout;
  /** Frames that carry no timestep and whose velocity is zero. */
  readonly cleanFrames: readonly number[];
  /** 1 where noise is, 0 where `clean` holds; as long as the latents. null: all noise. */
  readonly mask: Float32Array | null;
  /** Given values where the mask is 0, zero elsewhere. null: none. */
  readonly clean: Float32Array | null;
}

/**
 * Draws the initial noise of all targets, vision, sound, action, each in the order PyTorch lays it out
 * (`[C, T, H, W]`, `[C, T]`, `[T, dim]`), and puts the given values in: `mask * noise + clean`.
 */
export function initialLatents(targets: readonly Target[], generator: NoiseSource): Float32Array[] {
  return targets.map((target) => {
    const noise = drawNoise(target.item, generator);
    const { mask, clean } = target;
    return mask && clean ? noise.map((x, i) => (mask[i] as number) * x + (clean[i] as number)) : noise;
  });
}

/** Draws and drops what earlier runs drew from the generator: each time the noise of all targets. */
export function passDraws(targets: readonly Target[], generator: NoiseSource, times: number): void {
  for (let i = 0; i < times; i++) for (const { item } of targets) drawNoise(item, generator);
}

/** Standard normal noise in the target's own layout. */
export function drawNoise({ kind, shape }: ItemLayout, generator: NoiseSource): Float32Array {
  const count = shape.reduce((product, size) => product * size, 1);
  const drawn = generator.normal(count);
  return kind === 'action' ? drawn : channelsLast(drawn, shape.at(-1) ?? 1);
}

/** `[C, rest]` to `[rest, C]`. */
export function channelsLast(values: Float32Array, channels: number): Float32Array {
  const rest = values.length / channels;
  const out = new Float32Array(values.length);
  for (let c = 0; c < channels; c++)
    for (let i = 0; i < rest; i++) out[i * channels + c] = values[c * rest + i] as number;
  return out;
}

/** `[rest, C]` to `[C, rest]`. */
export function channelsFirst(values: Float32Array, channels: number): Float32Array {
  const rest = values.length / channels;
  const out = new Float32Array(values.length);
  for (let c = 0; c < channels; c++)
    for (let i = 0; i < rest; i++) out[c * rest + i] = values[i * channels + c] as number;
  return out;
}

/** A target whose listed frames hold `frames` (the whole latents; only the listed frames are taken). */
export function targetWithCleanFrames(
  item: ItemLayout,
  latents: Float32Array | null,
  cleanFrames: readonly number[],
): Target {
  if (!latents || cleanFrames.length === 0) return { item, cleanFrames: [], mask: null, clean: null };
  const perFrame = item.shape.slice(1).reduce((product, size) => product * size, 1);
  const length = (item.shape[0] ?? 0) * perFrame;
  const mask = new Float32Array(length).fill(1);
  const clean = new Float32Array(length);
  for (const frame of cleanFrames) {
    mask.fill(0, frame * perFrame, (frame + 1) * perFrame);
    clean.set(latents.subarray(frame * perFrame, (frame + 1) * perFrame), frame * perFrame);
  }
  return { item, cleanFrames, mask, clean };
}
