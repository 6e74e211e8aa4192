// What `probe` finds out before planning: the checkpoint and the inputs. Facts hold no pixels.
import type { Tokenizer } from '../tokenizer/index.js';
import type { Interval, Task } from './request.js';

/** Defaults of one task; `orrery_defaults` in a checkpoint's model_index.json may override each field. */
export interface TaskDefaults {
  readonly width: number;
  readonly height: number;
  readonly frames: number;
  readonly fps: number;
  readonly steps: number;
  readonly guidance: number;
  readonly flowShift: number;
  readonly guidanceInterval: Interval | null;
}

export interface CheckpointFacts {
  readonly id: string;
  readonly family: 'nano' | 'edge';
  readonly tokenizer: Tokenizer;
  readonly hasSound: boolean;
  readonly actionDim: number | null;
  readonly domains: number;
  /** Fixed sigmas of a distilled checkpoint. */
  readonly distilledSigmas: readonly number[] | null;
  readonly defaults: { readonly [task in Task]?: Partial<TaskDefaults> };
  readonly spatialCompression: number; // 16
  readonly temporalCompression: number; // 4
  readonly sound: { readonly sampleRate: number; readonly hop: number } | null;
}

/** One input as probed. */
export interface InputFacts {
  readonly sha256: string;
  readonly width: number;
  readonly height: number;
  readonly frames: number;
  readonly fps: number | null;
}

export interface Facts {
  readonly checkpoint: CheckpointFacts;
  readonly image: InputFacts | null;
  readonly video: InputFacts | null;
  /** One per hint of the request, in the request's order; null for a computed hint. */
  readonly hints: readonly (InputFacts | null)[];
  /** Drawn by the engine for requests that state no seed. */
  readonly randomSeed: number;
}
