// The picture that the DROID policy sees: one camera as it is, or three laid out as in training. Source: api spec, 3.5.
import { type RgbImage, resizeBilinear } from '../../media/index.js';

/** The three views of a DROID robot. */
export interface CameraViews {
  readonly wrist: RgbImage;
  readonly left: RgbImage;
  readonly right: RgbImage;
}

/**
 * Lays the views out: the wrist camera on top in its own size, below it both outer cameras side by side, each resized to
 * half its width and height. Sides are halved downwards.
 */
export function composeViews({ wrist, left, right }: CameraViews): RgbImage {
  const width = wrist.width - (wrist.width % 2);
  const [half, low] = [width / 2, Math.floor(wrist.height / 2)];
  const top = wrist.width === width ? wrist : resizeBilinear(wrist, width, wrist.height);
  const canvas = { width, height: wrist.height + low, data: new Uint8Array(width * (wrist.height + low) * 3) };
  paste(canvas, top, 0, 0);
  paste(canvas, fitTo(left, half, low), 0, wrist.height);
  paste(canvas, fitTo(right, half, low), half, wrist.height);
  return canvas;
}

/** The picture in the size the policy was trained with. */
export function fitTo(image: RgbImage, width: number, height: number): RgbImage {
  return image.width === width && image.height === height ? image : resizeBilinear(image, width, height);
}

function paste(canvas: RgbImage, image: RgbImage, x: number, y: number): void {
  for (let row = 0; row < image.height; row++) {
    const from = row * image.width * 3;
    canvas.data.set(image.data.subarray(from, from + image.width * 3), ((y + row) * canvas.width + x) * 3);
  }
}
