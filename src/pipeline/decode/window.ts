// How many latent frames are decoded or encoded at once: as many as give the device enough to do, no more, since memory grows with them.
import type { Size } from '../plan-types.js';

/** Pixels of a window, all frames together: beyond this, products do not get faster. */
const windowPixels = 8e6;
const mostLatentFrames = 4;

/** Latent frames of a window of a clip of this size. */
export function latentFramesPerWindow({ width, height }: Size, temporalFactor: number): number {
  const fitting = Math.floor(windowPixels / (temporalFactor * width * height));
  return Math.max(1, Math.min(mostLatentFrames, fitting));
}
