// Looks at a file from a stranger: what it is by content, and whether it decodes within limits. Runs in a process of its own.
import {
  decodeImage,
  decodeVideo,
  describeContent,
  findFfmpeg,
  isFitForUploads,
  MediaError,
  mediaKind,
  probeVideo,
  readHead,
  sniffMedia,
} from '../../media/index.js';

/** What may be looked at, and how much of it. */
export interface InspectionLimits {
  readonly maxPixels: number;
  /** An ffmpeg that is bundled or too old will do for clips. */
  readonly allowsAnyFfmpeg: boolean;
  /** Path of the ffmpeg to use; the system's where null. */
  readonly ffmpeg: string | null;
}

/** A file that can be used. */
export interface Inspection {
  readonly kind: 'image' | 'video';
  readonly mediaType: string;
  readonly width: number;
  readonly height: number;
  /** Of a clip, where its container tells; null for a picture. */
  readonly frames: number | null;
  readonly fps: number | null;
}

const mediaTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  bmp: 'image/bmp',
  tiff: 'image/tiff',
  avif: 'image/avif',
  mp4: 'video/mp4',
  webm: 'video/webm',
  avi: 'video/x-msvideo',
};

/** Sides beyond this are refused whatever their product. */
const sideLimit = 32_768;

/**
 * Inspects a picture or clip: pictures are decoded whole, of clips the header and the first frame.
 * @throws MediaError for anything that cannot be used
 */
export async function inspectMedia(path: string, limits: InspectionLimits): Promise<Inspection> {
  const head = await readHead(path);
  const type = sniffMedia(head);
  const mediaType = type === null ? undefined : mediaTypes[type];
  if (type === null || mediaType === undefined) {
    throw new MediaError(
      'unsupported_type',
      `provided content is not a valid image or video. It is ${describeContent(head)}.`,
    );
  }
  if (mediaKind(type) === 'image') {
    const { width, height } = await decodeImage(path, { maxPixels: limits.maxPixels });
    return { kind: 'image', mediaType, width, height, frames: null, fps: null };
  }
  return inspectClip(path, mediaType, limits);
}

async function inspectClip(path: string, mediaType: string, limits: InspectionLimits): Promise<Inspection> {
  const ffmpeg = await findFfmpeg({ path: limits.ffmpeg ?? undefined });
  if (!limits.allowsAnyFfmpeg && !isFitForUploads(ffmpeg)) {
    throw new MediaError(
      'ffmpeg_missing',
      `Clips are not taken: ffmpeg ${ffmpeg.version} (${ffmpeg.origin}) is not fit for files of strangers.`,
    );
  }
  const { width, height, frames, fps } = await probeVideo(path, { ffmpeg });
  if (width * height > limits.maxPixels || width > sideLimit || height > sideLimit) {
    throw new MediaError(
      'too_large',
      `the clip is ${width}x${height}, ${width * height} pixels a frame; the limit is ${limits.maxPixels}. Shrink it.`,
    );
  }
  if (frames === null) {
    throw new MediaError(
      'unreadable',
      'the clip does not say how long it is; write it anew with an index (ffmpeg -i CLIP -c copy NEW.mp4).',
    );
  }
  await decodeVideo(path, { ffmpeg, maxFrames: 1 });
  return { kind: 'video', mediaType, width, height, frames, fps };
}
