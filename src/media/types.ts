// What media are once decoded: pictures, clips and sound as plain arrays in host memory.

/** An 8-bit RGB picture, row by row. */
export interface RgbImage {
  readonly width: number;
  readonly height: number;
  /** [height, width, 3] */
  readonly data: Uint8Array;
}

/** A run of 8-bit RGB pictures of one size. */
export interface RgbClip {
  readonly width: number;
  readonly height: number;
  readonly frames: number;
  /** Frames per second of the source; null where it has none (a still picture, an array). */
  readonly fps: number | null;
  /** [frames, height, width, 3] */
  readonly data: Uint8Array;
}

/** Sound in [-1, 1], one array per channel, all of the same length. */
export interface Waveform {
  readonly sampleRate: number;
  readonly channels: readonly Float32Array[];
}

/** A picture as a clip of one frame; shares its memory. */
export function imageAsClip(image: RgbImage): RgbClip {
  return { width: image.width, height: image.height, frames: 1, fps: null, data: image.data };
}

/** Frame `index` of a clip as a view, not a copy. Throws RangeError outside 0 … frames-1. */
export function frameOf(clip: RgbClip, index: number): RgbImage {
  if (!Number.isInteger(index) || index < 0 || index >= clip.frames) {
    throw new RangeError(`frame ${index} of a clip with ${clip.frames} frames`);
  }
  const size = clip.width * clip.height * 3;
  return { width: clip.width, height: clip.height, data: clip.data.subarray(index * size, (index + 1) * size) };
}
