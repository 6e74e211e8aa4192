// Writes a result in each form that was asked for, all carrying the same provenance.
import { stat } from 'node:fs/promises';
import {
  encodeImage,
  encodeVideo,
  encodeWav,
  type Ffmpeg,
  fileError,
  MediaError,
  type VideoCodecOptions,
  type Waveform,
  writeBytes,
} from '../../media/index.js';
import { writeSafetensors } from '../../weights/index.js';
import { type Provenance, writeProvenance } from '../provenance/provenance.js';
import type { ActionResult } from './action-result.js';
import type { FrameSpool } from './frame-spool.js';
import { mediaTypes, type OutputKind, type OutputTarget } from './output-target.js';
import { StagedFiles } from './staged-files.js';

/** Final latents of one modality and chunk. */
export interface LatentResult {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/** Everything a run made. */
export interface RunResult {
  readonly provenance: Provenance;
  readonly frames: FrameSpool;
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

/** How files are written. */
export interface WriteOptions {
  readonly ffmpeg: Ffmpeg | null;
  readonly codecOptions?: VideoCodecOptions | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes all targets; they appear together when the last one is complete.
 * @throws MediaError when one cannot be written; then none of them has changed
 */
export async function writeOutputs(
  targets: readonly OutputTarget[],
  result: RunResult,
  options: WriteOptions,
): Promise<readonly OutputFile[]> {
  await using staged = new StagedFiles();
  const files: OutputFile[] = [];
  for (const { path, kind } of targets) {
    options.signal?.throwIfAborted();
    const temporary = await staged.stage(path);
    await blameTarget(temporary, path, () => writeOne(kind, temporary, result, options));
    files.push({ path, kind, mediaType: mediaTypes[kind], bytes: (await stat(temporary)).size });
  }
  options.signal?.throwIfAborted();
  await staged.commit();
  return files;
}

/** Errors speak of the path that was asked for, not of the temporary one. */
async function blameTarget(temporary: string, path: string, body: () => Promise<void>): Promise<void> {
  try {
    await body();
  } catch (error) {
    const cause = error instanceof MediaError ? error : fileError(error, 'write', path);
    throw new MediaError(cause.code, cause.message.replaceAll(temporary, path), { cause: error });
  }
}

async function writeOne(kind: OutputKind, path: string, result: RunResult, options: WriteOptions): Promise<void> {
  const { frames, sound, provenance } = result;
  const metadata = writeProvenance(provenance);
  const size = frames.size ?? { width: 0, height: 0 };
  switch (kind) {
    case 'mp4':
      await encodeVideo({
        path,
        ...size,
        fps: provenance.plan.fps,
        frames: frames.frames(),
        sound: sound ?? undefined,
        metadata,
        ffmpeg: options.ffmpeg ?? undefined,
        codecOptions: options.codecOptions,
        signal: options.signal,
      });
      return;
    case 'png':
    case 'jpeg':
    case 'webp': {
      const first = await frames.frames().next();
      if (first.done) throw new Error('the run made no frames');
      await writeBytes(path, await encodeImage({ ...size, data: first.value }, { format: kind, metadata }));
      return;
    }
    case 'wav':
      if (sound === null) throw new Error('the run made no sound');
      await writeBytes(path, encodeWav(sound, { metadata }));
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

async function writeLatents(path: string, latents: readonly LatentResult[], metadata: string): Promise<void> {
  const tensors = latents.map(({ name, shape, data }) => ({
    name,
    dtype: 'f32' as const,
    shape,
    bytes: new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
  }));
  await writeSafetensors(path, tensors, { orrery: metadata });
}
