// Holds the frames of a result between decoding and encoding: in memory while they are few, in a temporary file otherwise. The
// hash of all frames, and the sound, are known only at the end, and files want both at their beginning.
import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MediaError } from '../../media/index.js';

/** Size of a result's frames. */
export interface FrameSize {
  readonly width: number;
  readonly height: number;
}

/** Frames up to this many bytes stay in memory. */
const memoryLimit = 64 * 2 ** 20;

/** Takes frames in order and gives them back any number of times. Dispose of it to remove its file. */
export class FrameSpool implements AsyncDisposable {
  #size: FrameSize | undefined;
  #count = 0;
  #kept: Uint8Array[] = [];
  #file: { readonly handle: FileHandle; readonly folder: string } | undefined;
  readonly #hash: Hash = createHash('sha256');

  constructor(private readonly limit = memoryLimit) {}

  /** Size of the frames; undefined before the first. */
  get size(): FrameSize | undefined {
    return this.#size;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Adds `count` frames, RGB bytes `[count, height, width, 3]`, which may be reused afterwards.
   * @throws MediaError `disk_full` when the temporary folder has no room
   */
  async add(data: Uint8Array, count: number, size: FrameSize): Promise<void> {
    this.#size ??= size;
    this.#hash.update(data);
    const total = (this.#count + count) * size.width * size.height * 3;
    if (this.#file === undefined && total > this.limit) await this.#spill();
    if (this.#file === undefined) this.#kept.push(data.slice());
    else await this.#write(this.#file.handle, data);
    this.#count += count;
  }

  /** SHA-256 of all bytes so far, in hex. */
  digest(): string {
    return this.#hash.copy().digest('hex');
  }

  /** All frames in order, each `[height, width, 3]`, a view or a buffer that is reused. */
  async *frames(): AsyncGenerator<Uint8Array, void> {
    const { width, height } = this.#size ?? { width: 0, height: 0 };
    const bytes = width * height * 3;
    if (this.#file === undefined) {
      for (const part of this.#kept)
        for (let at = 0; at < part.length; at += bytes) yield part.subarray(at, at + bytes);
      return;
    }
    for (let i = 0; i < this.#count; i++) {
      const frame = new Uint8Array(bytes);
      await this.#file.handle.read(frame, 0, bytes, i * bytes);
      yield frame;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#kept = [];
    const file = this.#file;
    this.#file = undefined;
    if (file === undefined) return;
    await file.handle.close();
    await rm(file.folder, { recursive: true, force: true });
  }

  async #spill(): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), 'orrery-frames-'));
    const handle = await open(join(folder, 'rgb'), 'wx+');
    this.#file = { handle, folder };
    for (const part of this.#kept) await this.#write(handle, part);
    this.#kept = [];
  }

  async #write(handle: FileHandle, data: Uint8Array): Promise<void> {
    try {
      await handle.writeFile(data);
    } catch (error) {
      if (error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')) {
        throw new MediaError(
          'disk_full',
          `Cannot keep frames in ${tmpdir()}: no space left. Free some, or set TMPDIR.`,
        );
      }
      throw error;
    }
  }
}
