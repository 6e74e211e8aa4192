// Files of a result in each form that was asked for, all carrying the same provenance. A clip is encoded while frames are made.
import { createHash, type Hash } from 'node:crypto';
import { copyFile, stat } from 'node:fs/promises';
import { encodeImage, encodeWav, type Ffmpeg, type RgbImage, type Waveform, writeBytes } from '../../media/index.js';
import { writeSafetensors } from '../../weights/index.js';
import { type Provenance, writeProvenance } from '../provenance/provenance.js';
import type { ActionResult } from './action-result.js';
import { blameTarget } from './blame-target.js';
import { ClipEncoder } from './clip-encoder.js';
import { mediaTypes, type OutputKind, type OutputTarget } from './output-target.js';
import { StagedFiles } from './staged-files.js';

/** Final latents of one modality and chunk. */
export interface LatentResult {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/** Frames of a result: RGB bytes `[count, height, width, 3]`. */
export interface ResultFrames {
  readonly data: Uint8Array;
  readonly count: number;
  readonly width: number;
  readonly height: number;
}

/** What a run made besides frames. */
export interface RunResult {
  readonly sound: Waveform | null;
  readonly action: ActionResult | null;
  readonly latents: readonly LatentResult[];
}

/** A written file. */
export interface OutputFile {
  readonly path: string;
  readonly kind: OutputKind;
  readonly mediaType: string;
  readonly bytes: number;
}

/** What is known of a result before its first frame, and how it is written. */
export interface OutputOptions {
  /** All of the provenance but the hash of the frames. */
  readonly origin: Omit<Provenance, 'framesSha256'>;
  readonly ffmpeg: Ffmpeg | null;
  readonly signal?: AbortSignal | undefined;
}

/** All files, and the hash of the frames that are in them. */
export interface Written {
  readonly files: readonly OutputFile[];
  /** SHA-256 of all RGB bytes in order, in hex; null where there were no frames. */
  readonly framesSha256: string | null;
}

interface OpenClip {
  readonly path: string;
  readonly temporary: string;
  readonly encoder: ClipEncoder;
}

/** The files of one run. They appear together at `finish`; disposing of it before leaves none of them. */
export class OutputFiles implements AsyncDisposable {
  readonly #targets: readonly OutputTarget[];
  readonly #options: OutputOptions;
  readonly #staged = new StagedFiles();
  #clip: OpenClip | undefined;
  #first: RgbImage | undefined;
  #hash: Hash | undefined;
  #count = 0;

  constructor(targets: readonly OutputTarget[], options: OutputOptions) {
    this.#targets = targets;
    this.#options = options;
  }

  /** The first frame; undefined before it came. */
  get first(): RgbImage | undefined {
    return this.#first;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Takes the next frames, and the sound with the first of them. Waits where the encoder is far behind.
   * @throws MediaError when the clip cannot be written
   */
  async addFrames({ data, count, width, height }: ResultFrames, sound: Waveform | null): Promise<void> {
    if (this.#first === undefined) {
      this.#first = { width, height, data: data.slice(0, width * height * 3) };
      await this.#begin(this.#first, sound);
    }
    this.#count += count;
    const clip = this.#clip;
    if (clip === undefined) this.#hash?.update(data);
    else await blameTarget(clip, () => clip.encoder.add(data, count));
  }

  /**
   * Completes all files and moves them to their places.
   * @throws MediaError when one cannot be written; then none of them has changed
   */
  async finish(result: RunResult): Promise<Written> {
    const { signal, origin } = this.#options;
    const clip = this.#clip;
    const encoded = clip && (await blameTarget(clip, () => clip.encoder.finish()));
    const framesSha256 = encoded?.sha256 ?? this.#hash?.digest('hex') ?? null;
    const provenance: Provenance = { ...origin, framesSha256 };
    const files: OutputFile[] = [];
    for (const { path, kind } of this.#targets) {
      signal?.throwIfAborted();
      const temporary = path === clip?.path ? clip.temporary : await this.#staged.stage(path);
      if (path !== clip?.path)
        await blameTarget({ path, temporary }, () => this.#write(kind, temporary, result, provenance));
      files.push({ path, kind, mediaType: mediaTypes[kind], bytes: (await stat(temporary)).size });
    }
    signal?.throwIfAborted();
    await this.#staged.commit();
    return { files, framesSha256 };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#clip?.encoder[Symbol.asyncDispose]();
    await this.#staged[Symbol.asyncDispose]();
  }

  async #begin({ width, height }: RgbImage, sound: Waveform | null): Promise<void> {
    const target = this.#targets.find(({ kind }) => kind === 'mp4');
    if (target === undefined) {
      // An encoder hashes what it is given by itself.
      this.#hash = createHash('sha256');
      return;
    }
    const { origin, ffmpeg, signal } = this.#options;
    const temporary = await this.#staged.stage(target.path);
    const encoder = new ClipEncoder({
      path: temporary,
      width,
      height,
      fps: origin.plan.fps,
      sound: sound ?? undefined,
      metadata: (framesSha256) => writeProvenance({ ...origin, framesSha256 }),
      ffmpeg: ffmpeg ?? undefined,
      codecOptions: origin.codecOptions,
      signal,
    });
    this.#clip = { path: target.path, temporary, encoder };
  }

  async #write(kind: OutputKind, path: string, result: RunResult, provenance: Provenance): Promise<void> {
    const metadata = writeProvenance(provenance);
    switch (kind) {
      case 'mp4':
        // A second clip is the first one again.
        if (this.#clip === undefined) throw new Error('the run made no frames');
        await copyFile(this.#clip.temporary, path);
        return;
      case 'png':
      case 'jpeg':
      case 'webp':
        if (this.#first === undefined) throw new Error('the run made no frames');
        await writeBytes(path, await encodeImage(this.#first, { format: kind, metadata }));
        return;
      case 'wav':
        if (result.sound === null) throw new Error('the run made no sound');
        await writeBytes(path, encodeWav(result.sound, { metadata }));
        return;
      case 'json':
        await writeBytes(path, Buffer.from(`${JSON.stringify({ ...provenance, action: result.action }, null, 2)}\n`));
        return;
      case 'safetensors':
        await writeLatents(path, result.latents, metadata);
        return;
      default:
        kind satisfies never;
    }
  }
}

async function writeLatents(path: string, latents: readonly LatentResult[], metadata: string): Promise<void> {
  const tensors = latents.map(({ name, shape, data }) => ({
    name,
    dtype: 'f32' as const,
    shape,
    bytes: new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
  }));
  await writeSafetensors(path, tensors, { orrery: metadata });
}
