// Reads a folder of golden cases: `cases.json`, `cases/NAME.safetensors`, `media/`, checkpoints beside them.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSafetensors, toFloat32 } from '../../../weights/index.js';

/** A case as cases.json states it, in the reference's terms. */
export interface CaseInfo {
  readonly checkpoint: string;
  readonly request: GoldenRequest;
  readonly scheduler: Readonly<Record<string, unknown>>;
  readonly use_native_flow_schedule?: boolean;
  readonly cond_text?: string;
  readonly seed?: number;
  readonly distilled_sigmas?: readonly number[];
}

/** The reference's call arguments that cases use. */
export interface GoldenRequest {
  readonly prompt: string;
  readonly negative_prompt?: string;
  readonly width?: number;
  readonly height?: number;
  readonly num_frames?: number;
  readonly num_inference_steps?: number;
  readonly guidance_scale?: number;
  readonly fps?: number;
  readonly image?: string;
  readonly video?: string;
  readonly condition_frame_indexes_vision?: readonly number[];
  readonly condition_video_keep?: 'first' | 'last';
  readonly enable_sound?: boolean;
  readonly control_videos?: Readonly<Record<string, string>>;
  readonly control_guidance?: number;
  readonly control_attention?: 'joint' | 'weighted';
  readonly num_video_frames_per_chunk?: number;
  readonly num_conditional_frames?: number;
  readonly action?: {
    readonly mode: string;
    readonly chunk_size: number;
    readonly domain_name: string;
    readonly resolution_tier: number;
    readonly view_point: 'ego_view';
    readonly raw_action_dim: number;
    readonly image?: string;
    readonly video?: string;
    readonly actions?: string;
  };
}

export interface GoldenFolder {
  readonly path: string;
  readonly index: Readonly<Record<string, unknown>>;
  /** Names of the cases that run a pipeline. */
  readonly names: readonly string[];
}

/** @throws Error naming the folder when it holds no cases */
export function openGoldenFolder(path: string): GoldenFolder {
  const file = join(path, 'cases.json');
  if (!existsSync(file)) throw new Error(`${path} holds no cases.json; give a folder laid out like test/golden/data`);
  const index = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  return { path, index, names: Object.keys(index).filter((name) => !name.startsWith('_')) };
}

/** Values of one golden tensor as plain numbers. */
export interface GoldenTensor {
  readonly shape: readonly number[];
  readonly values: Float32Array | Int32Array | Uint8Array;
}

/** The tensors of one case file. */
export class GoldenTensors {
  private constructor(private readonly tensors: ReadonlyMap<string, GoldenTensor>) {}

  static read(folder: GoldenFolder, name: string): GoldenTensors {
    using file = openSafetensors(join(folder.path, 'cases', `${name}.safetensors`));
    const read = [...file.tensors].map(([key, tensor]) => {
      const bytes = tensor.bytes();
      return [key, { shape: tensor.shape, values: valuesOf(tensor.dtype, tensor.shape, bytes) }] as const;
    });
    return new GoldenTensors(new Map(read));
  }

  get keys(): string[] {
    return [...this.tensors.keys()];
  }

  get(key: string): GoldenTensor | undefined {
    return this.tensors.get(key);
  }

  /** @throws Error when it is missing or not float32 */
  floats(key: string): Float32Array {
    const values = this.get(key)?.values;
    if (!(values instanceof Float32Array)) throw new Error(`the case has no float32 tensor ${key}`);
    return values;
  }
}

function valuesOf(dtype: string | undefined, shape: readonly number[], bytes: Uint8Array): GoldenTensor['values'] {
  if (dtype === 'u8') return bytes.slice();
  if (dtype === 'i64') return Int32Array.from(new BigInt64Array(bytes.slice().buffer), Number);
  if (dtype === 'i32') return new Int32Array(bytes.slice().buffer);
  return toFloat32({ shape, dtype: 'f32', bytes: bytes.slice() });
}
