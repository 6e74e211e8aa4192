// The frame that a result shows, as a picture of its own.
import type { Media } from './media-of.js';
import type { Playback } from './player/playback.js';

/**
 * A PNG of the frame that stands in the player, or the picture as it is.
 * @param name of the file, without its ending
 * @throws Error where the browser has no frame yet, or cannot make a picture of it
 */
export async function frameFile(media: Media, playback: Playback, key: string, name: string): Promise<File> {
  if (media.kind === 'picture') {
    const picture = await (await fetch(media.url)).blob();
    return new File([picture], `${name}.${picture.type.split('/')[1] ?? 'png'}`, { type: picture.type });
  }
  const video = playback.videoOf(key);
  if (!(video instanceof HTMLVideoElement) || video.videoWidth === 0) throw new Error('there is no frame yet');
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
  canvas.getContext('2d')?.drawImage(video, 0, 0);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
  if (blob === null) throw new Error('the frame cannot be made a picture');
  return new File([blob], `${name}_${playback.frame.value + 1}.png`, { type: 'image/png' });
}
