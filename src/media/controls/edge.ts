// Edge control maps: Canny on each frame, as the transfer task was trained.
import type { RgbClip, RgbImage } from '../types.js';
import { mapFramesInTurns } from './in-turns.js';
import { loadVision } from './opencv.js';

/** Lower and upper Canny threshold of each preset. */
const edgeThresholds = {
  none: [20, 50],
  very_low: [20, 50],
  low: [50, 100],
  medium: [100, 200],
  high: [200, 300],
  very_high: [300, 400],
} as const;

export type EdgePreset = keyof typeof edgeThresholds;

/** All presets, weakest first. */
export const edgePresets = Object.keys(edgeThresholds).filter(isEdgePreset);

function isEdgePreset(name: string): name is EdgePreset {
  return Object.hasOwn(edgeThresholds, name);
}

/**
 * Edges of each frame, white on black: OpenCV's Canny (aperture 3, L1 norm) on the three RGB channels, repeated into
 * three channels. Size, frames and fps are those of the source. Throws MediaError `aborted` when `signal` says so.
 */
export async function edgeControl(
  clip: RgbClip,
  preset: EdgePreset = 'medium',
  signal?: AbortSignal,
): Promise<RgbClip> {
  const vision = await loadVision();
  const [low, high] = edgeThresholds[preset];
  return mapFramesInTurns(clip, (frame) => greyImage(frame, vision.canny(frame, low, high)), signal);
}

function greyImage({ width, height }: RgbImage, grey: Uint8Array): RgbImage {
  const data = new Uint8Array(width * height * 3);
  for (let i = 0; i < grey.length; i++) data.fill(grey[i] as number, 3 * i, 3 * i + 3);
  return { width, height, data };
}
