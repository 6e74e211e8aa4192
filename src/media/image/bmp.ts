// BMP pictures, which the image library does not read: handed to ffmpeg, which makes PNG of them.
import { MediaError } from '../media-error.js';
import { type FfmpegOptions, findFfmpeg, startFfmpeg, summarizeErrors } from '../video/ffmpeg.js';

/** Size by the header. Throws MediaError `unreadable`. */
export function bmpSize(bytes: Uint8Array, name: string): { width: number; height: number } {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (file.length < 54 || file.readUInt32LE(14) < 40) {
    throw new MediaError('unreadable', `${name} has no BMP header that can be read. Convert it to PNG.`);
  }
  // A negative height means that the top row comes first.
  return { width: file.readInt32LE(18), height: Math.abs(file.readInt32LE(22)) };
}

/**
 * The picture as PNG. Throws MediaError `unreadable`, `too_large` beyond `maxPixels`, or `ffmpeg_missing`.
 */
export async function bmpToPng(
  bytes: Uint8Array,
  name: string,
  maxPixels: number,
  options: FfmpegOptions,
): Promise<Uint8Array> {
  const { width, height } = bmpSize(bytes, name);
  if (width * height > maxPixels) {
    throw new MediaError('too_large', `${name} is ${width}x${height}; the limit is ${maxPixels} pixels. Shrink it.`);
  }
  const ffmpeg = options.ffmpeg ?? (await findFfmpeg());
  const output = ['-frames:v', '1', '-pix_fmt', 'rgb24', '-c:v', 'png', '-f', 'image2pipe', 'pipe:1'];
  const run = startFfmpeg(ffmpeg, ['-v', 'error', '-f', 'bmp_pipe', '-i', 'pipe:0', ...output], { input: true });
  try {
    run.child.stdin?.end(bytes);
    const pieces: Buffer[] = [];
    for await (const piece of run.child.stdout ?? []) pieces.push(piece);
    const { code } = await run.ended;
    if (code === 0 && pieces.length > 0) return Buffer.concat(pieces);
    throw new MediaError(
      'unreadable',
      `${name} cannot be decoded (${summarizeErrors(run.errors())}). Convert it to PNG.`,
    );
  } finally {
    run.kill();
  }
}
