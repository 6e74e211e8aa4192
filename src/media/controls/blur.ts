// Blur control maps: shrinking, a bilateral filter and a cubic down-up, as the transfer task was trained.
import { resizeCubic } from '../resize.js';
import type { RgbClip, RgbImage } from '../types.js';
import { mapFramesInTurns } from './in-turns.js';
import { loadVision, type Vision } from './opencv.js';

/** `shrink` before the bilateral filter and `downUp` after it, both as factors; 1 leaves a step out. */
const blurFactors = {
  none: null,
  very_low: { shrink: 1, downUp: 4 },
  low: { shrink: 4, downUp: 4 },
  medium: { shrink: 2, downUp: 10 },
  high: { shrink: 1, downUp: 16 },
  very_high: { shrink: 4, downUp: 16 },
} as const;

export type BlurPreset = keyof typeof blurFactors;

/** All presets, weakest first. */
export const blurPresets = Object.keys(blurFactors).filter(isBlurPreset);

function isBlurPreset(name: string): name is BlurPreset {
  return Object.hasOwn(blurFactors, name);
}

/**
 * Blurs each frame. Size, frames and fps are those of the source; `none` gives a copy. At 1280x720 a frame takes from
 * half a second (`medium`) to ten (`high`). Throws MediaError `aborted` when `signal` says so.
 */
export async function blurControl(
  clip: RgbClip,
  preset: BlurPreset = 'medium',
  signal?: AbortSignal,
): Promise<RgbClip> {
  const factors = blurFactors[preset];
  if (factors === null) return { ...clip, data: clip.data.slice() };
  const vision = await loadVision();
  return mapFramesInTurns(clip, (frame) => blur(vision, frame, factors.shrink, factors.downUp), signal);
}

/**
 * Diameter (odd) and sigmas of the bilateral filter for a picture whose longer side is `longest`: 30, 150 and 100 at 720
 * pixels, in proportion elsewhere. 72 gives 3, 15 and 10.
 */
export function bilateralParameters(longest: number): { diameter: number; sigmaColor: number; sigmaSpace: number } {
  const scale = longest / 720;
  const rounded = roundHalfToEven(30 * scale);
  return {
    diameter: rounded % 2 === 0 ? rounded + 1 : rounded,
    sigmaColor: Math.max(1, 150 * scale),
    sigmaSpace: Math.max(1, 100 * scale),
  };
}

function blur(vision: Vision, frame: RgbImage, shrink: number, downUp: number): RgbImage {
  const { width, height } = frame;
  const part = (factor: number): [number, number] => [
    Math.max(1, Math.floor(width / factor)),
    Math.max(1, Math.floor(height / factor)),
  ];
  const small = shrink > 1 ? vision.resize(frame, ...part(shrink), 'area') : frame;
  const { diameter, sigmaColor, sigmaSpace } = bilateralParameters(Math.max(small.width, small.height));
  const smooth = vision.bilateral(small, diameter, sigmaColor, sigmaSpace);
  const full = shrink > 1 ? vision.resize(smooth, width, height, 'linear') : smooth;
  // Cubic is our own: OpenCV's WebAssembly build rounds its weights, the reference's build does not.
  return downUp > 1 ? resizeCubic(resizeCubic(full, ...part(downUp)), width, height) : full;
}

function roundHalfToEven(value: number): number {
  const down = Math.floor(value);
  const rest = value - down;
  return rest > 0.5 || (rest === 0.5 && down % 2 === 1) ? down + 1 : down;
}
