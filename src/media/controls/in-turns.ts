// Slow work on the frames of a clip, one turn of the event loop each, so that the process stays responsive.
import { setImmediate } from 'node:timers/promises';
import { MediaError } from '../media-error.js';
import { frameOf, type RgbClip, type RgbImage } from '../types.js';

/**
 * Applies `change`, which keeps the size, to each frame; fps is kept. Throws MediaError `aborted` when `signal` says so.
 */
export async function mapFramesInTurns(
  clip: RgbClip,
  change: (frame: RgbImage) => RgbImage,
  signal?: AbortSignal,
): Promise<RgbClip> {
  const data = new Uint8Array(clip.data.length);
  for (let i = 0; i < clip.frames; i++) {
    if (signal?.aborted)
      throw new MediaError('aborted', `The control map was stopped at frame ${i} of ${clip.frames}.`);
    data.set(change(frameOf(clip, i)).data, i * clip.width * clip.height * 3);
    await setImmediate();
  }
  return { width: clip.width, height: clip.height, frames: clip.frames, fps: clip.fps, data };
}
