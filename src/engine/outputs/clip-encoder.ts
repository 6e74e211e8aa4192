// A clip that is encoded while its frames are still being made.
import { type EncodedVideo, type EncodeVideoOptions, encodeVideo, MediaError } from '../../media/index.js';
import { FrameQueue } from './frame-queue.js';

/** How the clip is written, and its sound. */
export type ClipOptions = Omit<EncodeVideoOptions, 'frames'>;

/** One clip on its way into its file. Disposing of it before `finish` ends the encoder and leaves no file. */
export class ClipEncoder implements AsyncDisposable {
  readonly #path: string;
  readonly #queue: FrameQueue;
  readonly #encoded: Promise<EncodedVideo>;

  /** Starts the encoder. */
  constructor(options: ClipOptions) {
    this.#path = options.path;
    this.#queue = new FrameQueue();
    this.#encoded = encodeVideo({ ...options, frames: this.#queue.read() });
    // Whoever adds or finishes hears of it, and nobody waits for an encoder that is gone.
    this.#encoded.catch(() => this.#queue.end());
  }

  /**
   * Gives it the next frames, RGB bytes `[count, height, width, 3]`, and waits until it has taken them in: at once, unless it
   * is far behind.
   * @throws MediaError when the encoder has failed
   */
  async add(data: Uint8Array, count: number): Promise<void> {
    if (await this.#queue.add(data, count)) return;
    await this.#encoded;
    throw new MediaError('ffmpeg_failed', `Cannot encode ${this.#path}: ffmpeg ended before the last frame.`);
  }

  /** Waits until the file is whole. @throws MediaError */
  finish(): Promise<EncodedVideo> {
    this.#queue.end();
    return this.#encoded;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#queue.fail(new Error('the clip was given up'));
    await this.#encoded.catch(() => undefined);
  }
}
