// Small pictures of a run as files of a few kilobytes, made beside the run and told in their order.
import { encodeImage, type RgbImage, resizeBilinear } from '../../media/index.js';
import type { Preview } from '../../pipeline/preview/previewer.js';
import type { JobPreview } from '../jobs/types.js';

/** Bytes of a picture at most. */
export const previewLimit = 24_000;

const qualities = [75, 45, 20] as const;

/** A WebP of at most `previewLimit` bytes: as good as fits, smaller where nothing does. */
export async function encodePreview(
  image: RgbImage,
): Promise<{ readonly image: RgbImage; readonly bytes: Uint8Array }> {
  for (const quality of qualities) {
    const bytes = await encodeImage(image, { format: 'webp', quality });
    if (bytes.length <= previewLimit) return { image, bytes };
  }
  const half = (side: number) => Math.max(1, Math.floor(side / 2));
  return encodePreview(resizeBilinear(image, half(image.width), half(image.height)));
}

/** Encodes while the run goes on. A picture that comes while the one before is not done is left out, but for the last. */
export class PreviewEncoder {
  readonly #tell: (preview: JobPreview) => void;
  #work: Promise<void> = Promise.resolve();
  #isBusy = false;

  constructor(tell: (preview: JobPreview) => void) {
    this.#tell = tell;
  }

  add(preview: Preview): void {
    if (this.#isBusy && !preview.final) return;
    this.#isBusy = true;
    this.#work = this.#work
      .then(() => this.#encode(preview))
      .finally(() => {
        this.#isBusy = false;
      });
    // Whoever waits for the end hears of a failure.
    this.#work.catch(() => undefined);
  }

  /** Resolves when all are told. */
  async settle(): Promise<void> {
    await this.#work;
  }

  async #encode({ step, steps, frame, final, image: given }: Preview): Promise<void> {
    const { image, bytes } = await encodePreview(given);
    const { width, height } = image;
    this.#tell({ step, steps, frame, width, height, final, mediaType: 'image/webp', bytes });
  }
}
