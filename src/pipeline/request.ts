// What a caller asked for, in the engine's words: every field but the prompt may be absent, and `plan` answers it.
import type { MediaSource } from './media-source.js';

export const tasks = [
  'text-to-image',
  'text-to-video',
  'image-to-video',
  'video-to-video',
  'transfer',
  'policy',
  'forward-dynamics',
  'inverse-dynamics',
] as const;
export type Task = (typeof tasks)[number];

/** Control hints in the order the networks were trained with. */
export const hintKinds = ['edge', 'blur', 'depth', 'seg', 'wsm'] as const;
export type HintKind = (typeof hintKinds)[number];

/** Hints whose map can be made from the input clip. */
export const computedKinds = ['edge', 'blur'] as const;
export type ComputedKind = (typeof computedKinds)[number];

/** Whether a hint's map can be made from the input clip. */
export function isComputedKind(kind: HintKind): kind is ComputedKind {
  return computedKinds.some((computed) => computed === kind);
}

export type ControlPreset = 'none' | 'very_low' | 'low' | 'medium' | 'high' | 'very_high';
export type NegativeMetadataMode = 'none' | 'same' | 'inverse';
export type ViewPoint = 'ego_view' | 'third_person_view' | 'wrist_view' | 'concat_view';
export type ControlAttention = 'weighted' | 'joint';

/** One control map: given, or computed from the input video (edge and blur only). */
export interface HintRequest {
  readonly kind: HintKind;
  readonly source?: MediaSource;
  readonly weight?: number;
  readonly preset?: ControlPreset;
}

export interface TransferRequest {
  readonly hints: readonly HintRequest[];
  readonly controlGuidance?: number;
  readonly controlGuidanceInterval?: Interval;
  readonly chunkFrames?: number;
  readonly conditionalFrames?: number;
  readonly firstChunkConditionalFrames?: number;
  readonly maxFrames?: number;
  readonly showControlCondition?: boolean;
  readonly showInput?: boolean;
  readonly shareTemporalPositions?: boolean;
  readonly emphasizeControl?: boolean;
  readonly attention?: ControlAttention;
}

export interface ActionRequest {
  readonly domainName?: string;
  readonly domainId?: number;
  readonly rawActionDim?: number;
  readonly chunk?: number;
  readonly fps?: number;
  readonly actions?: readonly (readonly number[])[]; // [T][D]
  /** Action rows before the first predicted one that are known (robot state): they are clean, and dropped from the result. */
  readonly history?: readonly (readonly number[])[];
  readonly viewPoint?: ViewPoint;
  readonly promptAsJson?: boolean;
  /** Decode no video: only the actions are wanted. */
  readonly actionsOnly?: boolean;
}

/** Closed interval on the timestep axis, 0 to 1000. */
export type Interval = readonly [low: number, high: number];

/** How skipped denoise steps get their velocity. */
export type SkipMode = 'hold' | 'extrapolate';

/** Skips steps at which little has changed; see `PlannedStepCache`. */
export interface StepCacheRequest {
  readonly kind: 'teacache' | 'seacache';
  readonly threshold?: number;
  readonly warmupSteps?: number;
  readonly maxConsecutive?: number;
  readonly coefficients?: readonly number[];
  readonly power?: number;
}

/** Sampler and prompt settings of a reference implementation; only the parity command sets them. */
export interface ReferenceSettings {
  readonly grid?: 'native' | 'linspace';
  readonly karras?: { readonly sigmaMin: number; readonly sigmaMax: number };
  readonly solverOrder?: 1 | 2 | 3;
  readonly solverVariant?: 'bh1' | 'bh2';
  readonly rawPrompt?: boolean;
  readonly untrimmedSound?: boolean;
}

export interface GenerationRequest {
  readonly task?: Task;
  readonly prompt: string;
  readonly negativePrompt?: string;
  readonly image?: MediaSource;
  readonly video?: MediaSource;
  readonly width?: number;
  readonly height?: number;
  /** Bucket tier: "256", "480", "704", "720". */
  readonly resolution?: string;
  readonly aspectRatio?: string;
  readonly frames?: number;
  readonly seconds?: number;
  readonly fps?: number;
  readonly steps?: number;
  readonly guidance?: number;
  readonly guidanceInterval?: Interval;
  readonly flowShift?: number;
  readonly seed?: number;
  /** Which of the pictures that one generator makes, from 0. */
  readonly draw?: number;
  readonly maxSequenceLength?: number;
  readonly useResolutionTemplate?: boolean;
  readonly useDurationTemplate?: boolean;
  readonly negativeMetadataMode?: NegativeMetadataMode;
  readonly useSystemPrompt?: boolean;
  readonly systemPrompt?: string;
  readonly promptSuffix?: string;
  readonly sound?: boolean;
  readonly soundDuration?: number;
  readonly conditionFrames?: readonly number[];
  readonly conditionKeep?: 'first' | 'last';
  readonly transfer?: TransferRequest;
  readonly action?: ActionRequest;
  readonly skipSteps?: readonly number[];
  readonly skipMode?: SkipMode;
  readonly stepCache?: StepCacheRequest;
  /** Guidance is computed at every so many steps. */
  readonly guidanceEvery?: number;
  readonly reference?: ReferenceSettings;
}
