// The family table: what a request gets for the fields it leaves out. One row per task, preset and bucket. Source: api
// spec, 2.4, 2.5 and 3.2.
import type { CheckpointFacts, TaskDefaults } from './facts.js';
import type { HintKind, Task } from './request.js';

const image: TaskDefaults = {
  width: 1024,
  height: 1024,
  frames: 1,
  fps: 24,
  steps: 50,
  guidance: 7,
  flowShift: 3,
  guidanceInterval: [400, 1000],
};

const video: TaskDefaults = {
  width: 1280,
  height: 720,
  frames: 189,
  fps: 24,
  steps: 35,
  guidance: 6,
  flowShift: 10,
  guidanceInterval: null,
};

/** Frames of an action row: a chunk of 16 and the frame before it. */
const action: TaskDefaults = {
  width: 832,
  height: 480,
  frames: 17,
  fps: 24,
  steps: 30,
  guidance: 1,
  flowShift: 5,
  guidanceInterval: null,
};

/** Frames of the transfer row: those of a chunk. The size names the bucket tier. Guidance is that of several hints. */
const transfer: TaskDefaults = { ...video, frames: 93, guidance: 3 };

const nanoDefaults: Readonly<Record<Task, TaskDefaults>> = {
  'text-to-image': image,
  'text-to-video': video,
  'image-to-video': video,
  'video-to-video': video,
  transfer,
  policy: action,
  'forward-dynamics': action,
  'inverse-dynamics': action,
};

const edgeVideo: TaskDefaults = { ...video, width: 832, height: 480, guidance: 5, flowShift: 3 };

/** Rows in which the edge family differs. */
const edgeDefaults: { readonly [task in Task]?: TaskDefaults } = {
  'text-to-image': { ...image, width: 640, height: 640, guidance: 5, flowShift: 3 },
  'text-to-video': edgeVideo,
  'image-to-video': edgeVideo,
};

/**
 * Defaults of a task on a checkpoint: the family's row, overlaid by what the checkpoint states itself. A transfer with a
 * single hint takes guidance, frames and fps from its preset where the checkpoint states none.
 */
export function taskDefaults(
  task: Task,
  { family, defaults }: Pick<CheckpointFacts, 'family' | 'defaults'>,
): TaskDefaults {
  const row = (family === 'edge' ? edgeDefaults[task] : undefined) ?? nanoDefaults[task];
  return { ...row, ...defaults[task] };
}

/** What a single control hint sets where the request does not. */
export interface TransferPreset {
  readonly guidance: number;
  readonly controlGuidance: number;
  /** Cap on the frames of the result; null: as long as the control. */
  readonly frames: number | null;
  /** null: the fps of the input video. */
  readonly fps: number | null;
  readonly chunkFrames: number;
}

const edgePreset: TransferPreset = { guidance: 3, controlGuidance: 1.5, frames: null, fps: null, chunkFrames: 93 };

export const transferPresets: Readonly<Record<HintKind, TransferPreset>> = {
  edge: edgePreset,
  blur: edgePreset,
  depth: edgePreset,
  seg: { ...edgePreset, controlGuidance: 2 },
  wsm: { guidance: 1, controlGuidance: 3, frames: 101, fps: 10, chunkFrames: 101 },
};

/** Two or more hints have no preset. */
export const severalHints: TransferPreset = { ...edgePreset, controlGuidance: 1 };

/** Most frames that a transfer takes from its inputs. */
export const transferMaxFrames = 5000;

/** Text tokens kept of a prompt. */
export const maxSequenceLength = 4096;

/** Latent frames of the target that a reference clip fixes. */
export const conditionFrames: readonly number[] = [0, 1];

/** What the DROID policy socket asks for where the observation does not say. Source: api spec, 3.5. */
export const droidPolicy = {
  domainName: 'droid_lerobot',
  viewPoint: 'concat_view',
  image: { width: 640, height: 540 },
  resolution: '480',
  chunk: 32,
  historyRows: 1,
  rawActionDim: 8,
  fps: 15,
  steps: 4,
  guidance: 3,
  flowShift: 5,
  seed: 0,
  promptAsJson: false,
  useDurationTemplate: true,
  useResolutionTemplate: true,
  negativeMetadataMode: 'none',
} as const;

export type AspectLabel = '1,1' | '4,3' | '3,4' | '16,9' | '9,16' | '2,3';

export interface Bucket {
  readonly label: AspectLabel;
  readonly width: number;
  readonly height: number;
}

const bucket = (label: AspectLabel, width: number, height: number): Bucket => ({ label, width, height });

/** Canvas sizes that the networks were trained with, by tier. */
export const buckets: Readonly<Record<string, readonly Bucket[]>> = {
  '256': [
    bucket('1,1', 256, 256),
    bucket('4,3', 320, 256),
    bucket('3,4', 256, 320),
    bucket('16,9', 320, 192),
    bucket('9,16', 192, 320),
  ],
  '480': [
    bucket('1,1', 640, 640),
    bucket('4,3', 736, 544),
    bucket('3,4', 544, 736),
    bucket('16,9', 832, 480),
    bucket('9,16', 480, 832),
    bucket('2,3', 512, 768),
  ],
  '704': [
    bucket('1,1', 960, 960),
    bucket('4,3', 1088, 832),
    bucket('3,4', 832, 1088),
    bucket('16,9', 1280, 704),
    bucket('9,16', 704, 1280),
  ],
  '720': [
    bucket('1,1', 960, 960),
    bucket('4,3', 1104, 832),
    bucket('3,4', 832, 1104),
    bucket('16,9', 1280, 720),
    bucket('9,16', 720, 1280),
  ],
};
