// What a generation reports, and what it ends in.
import type { Phase } from '../../pipeline/events.js';
import type { Plan, PlanWarning } from '../../pipeline/plan-types.js';
import type { Preview } from '../../pipeline/preview/previewer.js';
import type { ActionResult } from '../outputs/action-result.js';
import type { OutputFile } from '../outputs/output-files.js';
import type { Fingerprint } from '../provenance/fingerprint.js';
import type { RunWork } from './work-tally.js';

/** Progress of a generation, in order: plan, phases and steps, artifact. */
export type ProgressEvent =
  | { readonly type: 'plan'; readonly plan: Plan; readonly warnings: readonly PlanWarning[] }
  | {
      readonly type: 'phase';
      readonly phase: 'load' | Phase | 'write';
      readonly chunk: number;
      readonly chunks: number;
    }
  | {
      readonly type: 'step';
      /** Finished steps of the chunk, 1 … steps. */
      readonly step: number;
      readonly steps: number;
      readonly chunk: number;
      readonly chunks: number;
      /** The step reused a velocity. */
      readonly skipped: boolean;
      /** Branches that went through the network. */
      readonly passes: number;
      /** Mean over the steps so far. */
      readonly secondsPerStep: number;
      /** Until the last step of the last chunk. */
      readonly secondsLeft: number;
    }
  /** RGB bytes `[count, height, width, 3]` of the next frames. */
  | {
      readonly type: 'frames';
      readonly data: Uint8Array;
      readonly count: number;
      readonly width: number;
      readonly height: number;
    }
  | Preview
  | { readonly type: 'artifact'; readonly artifact: Artifact };

/** High-water marks of a GPU's memory, bytes. */
export interface GpuMemory {
  /** Taken from the driver. */
  readonly reserved: number;
  /** In weights and tensors. */
  readonly allocated: number;
}

/** The result of a generation. */
export interface Artifact {
  readonly plan: Plan;
  readonly warnings: readonly PlanWarning[];
  /** Files written, in the order they were asked for. */
  readonly files: readonly OutputFile[];
  /** The file's content where no path was asked for; null otherwise. */
  readonly data: Uint8Array | null;
  readonly mediaType: string;
  /** SHA-256 of all RGB bytes of the result; null where it has no frames. */
  readonly framesSha256: string | null;
  readonly width: number;
  readonly height: number;
  readonly frames: number;
  readonly fps: number;
  readonly hasSound: boolean;
  /** Actions as clients of the HTTP interface read them; null where none were made. */
  readonly action: ActionResult | null;
  readonly fingerprint: Fingerprint;
  /** Wall time, loading of networks included. */
  readonly seconds: number;
  /** Most resident memory of the process so far. */
  readonly peakMemoryBytes: number;
  /** Most memory of the GPU so far; null where none was used. */
  readonly gpuMemory: GpuMemory | null;
  /** What was really computed. */
  readonly work: RunWork;
}
