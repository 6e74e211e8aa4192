// The Plan: a request with every question answered. It is the cache key, the `--dry-run` output, the log line and the
// metadata inside the artifact. Nothing in it is optional; what does not apply is null.
import type { ControlAttention, ControlPreset, HintKind, Interval, SkipMode, Task } from './request.js';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** One text branch: the text as the tokenizer saw it, and its ids. */
export interface PlannedPrompt {
  readonly text: string;
  readonly tokens: readonly number[];
  readonly truncated: boolean;
}

export type PlannedSchedule =
  | {
      readonly solver: 'unipc';
      readonly grid: 'native' | 'linspace' | 'karras';
      readonly flowShift: number;
      readonly order: 1 | 2 | 3;
      readonly variant: 'bh1' | 'bh2';
      /** Karras range; null on the other grids. */
      readonly karras: { readonly sigmaMin: number; readonly sigmaMax: number } | null;
    }
  | { readonly solver: 'flow-euler'; readonly sigmas: readonly number[] };

export interface PlannedGuidance {
  /** Text guidance; CFG runs where it is above 1 and the timestep lies in the interval. */
  readonly scale: number;
  readonly interval: Interval | null;
  readonly controlScale: number;
  readonly controlInterval: Interval | null;
}

/** An input by its content, as the metadata of an artifact names it. */
export interface PlannedInput {
  readonly role: 'image' | 'video' | 'control' | 'actions';
  readonly sha256: string;
  readonly width: number;
  readonly height: number;
  readonly frames: number;
}

/** Which latent frames of the target come from a picture or clip and stay clean. */
export interface PlannedCondition {
  readonly source: 'image' | 'video';
  /** Latent frame indexes, sorted. */
  readonly latentFrames: readonly number[];
  /** Pixel frames taken from the source; a shorter source repeats its last frame. */
  readonly pixelFrames: number;
  readonly keep: 'first' | 'last';
  /** `cover`: scale to cover and crop. `pad`: shrink to fit, pad right and bottom (actions). */
  readonly fit: 'cover' | 'pad';
}

export interface PlannedSound {
  readonly samples: number;
  readonly latentFrames: number;
  readonly trim: boolean;
}

export interface PlannedAction {
  readonly mode: 'policy' | 'forward-dynamics' | 'inverse-dynamics';
  readonly domain: number;
  readonly rawDim: number;
  /** Rows of the action sequence, history included. */
  readonly rows: number;
  readonly historyRows: number;
  readonly fps: number;
  /** Steps between the first action and the first video frame on the time axis: 0 or 1. */
  readonly offset: 0 | 1;
  /** Given rows `[rows][rawDim]` for forward dynamics; the history rows otherwise. */
  readonly given: readonly (readonly number[])[];
  readonly decodeVideo: boolean;
}

export interface PlannedHint {
  readonly kind: HintKind;
  readonly computed: boolean;
  readonly weight: number;
  readonly preset: ControlPreset;
}

export interface PlannedTransfer {
  readonly hints: readonly PlannedHint[];
  readonly attention: ControlAttention;
  readonly chunkFrames: number;
  readonly totalFrames: number;
  readonly conditionalFrames: number;
  readonly firstChunkConditionalFrames: number;
  readonly showControlCondition: boolean;
  readonly showInput: boolean;
  readonly shareTemporalPositions: boolean;
}

/** Skips steps at which what the network reads has changed little since the last computed one. */
export interface PlannedStepCache {
  /** What is measured: the first layer's input, or the latents behind a filter for noise. */
  readonly kind: 'teacache' | 'seacache';
  /** Steps are skipped until the relative changes add up to this. */
  readonly threshold: number;
  /** Steps at the start that are always computed. */
  readonly warmupSteps: number;
  /** Most skipped steps in a row. */
  readonly maxConsecutive: number;
  /** Rescales a change before it is added, highest power first; empty for none. */
  readonly coefficients: readonly number[];
  /** Seacache: the signal's power falls as frequency to the minus this. */
  readonly power: number;
}

/** Work that is left out where an earlier result stands in for it. */
export interface PlannedReuse {
  readonly stepCache: PlannedStepCache | null;
  /** Guidance is computed at every so many steps; 1: at all. */
  readonly guidanceEvery: number;
}

export interface Plan {
  readonly version: 1;
  readonly task: Task;
  readonly model: string;
  /** Size the networks work on. */
  readonly canvas: Size;
  /** Size of the result: the canvas, or the part of it that the source fills (actions). */
  readonly content: Size;
  /** Frames of the result. */
  readonly frames: number;
  readonly fps: number;
  readonly steps: number;
  readonly schedule: PlannedSchedule;
  readonly guidance: PlannedGuidance;
  readonly seed: number;
  /** Pictures that the seed's generator made before this one: its noise goes on where theirs ended. */
  readonly draw: number;
  readonly prompt: PlannedPrompt;
  /** null where no branch uses it. */
  readonly negativePrompt: PlannedPrompt | null;
  readonly condition: PlannedCondition | null;
  readonly sound: PlannedSound | null;
  readonly action: PlannedAction | null;
  readonly transfer: PlannedTransfer | null;
  readonly skip: { readonly steps: readonly number[]; readonly mode: SkipMode };
  readonly reuse: PlannedReuse;
  readonly inputs: readonly PlannedInput[];
}

/** What the planner noticed and the caller should hear: dropped, cut or rounded values. */
export interface PlanWarning {
  readonly param: string;
  readonly message: string;
}
