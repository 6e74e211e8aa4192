// Media that cannot be used are the caller's fault; a missing ffmpeg or a full disk is not.
import { MediaError, type MediaErrorCode } from '../../media/index.js';
import { RequestError } from '../../protocol/index.js';

const ours: ReadonlySet<MediaErrorCode> = new Set([
  'aborted',
  'ffmpeg_missing',
  'ffmpeg_failed',
  'unwritable',
  'disk_full',
]);

/** Runs `body`; what it throws about the input `param` becomes a RequestError. */
export async function blameInput<T>(param: string, body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    if (error instanceof MediaError && !ours.has(error.code)) {
      throw new RequestError('invalid_media', param, `${param}: ${error.message}`);
    }
    throw error;
  }
}
