// What is measured, on what, and what comes of it.
import type { Backend } from '../../../backend/index.js';
import type { CudaBackend } from '../../loader.js';
import type { Bar } from './bars.js';
import type { FrameFigures, LatentFigures, VelocityFigures } from './measures.js';
import { qualityPrompts } from './prompts.js';
import type { Precision } from './variants.js';

/** What is generated. Guidance is 1, so that one branch runs. */
export interface QualityJob {
  /** How many of the prompts, from the first. */
  readonly prompts: number;
  readonly width: number;
  readonly height: number;
  readonly frames: number;
  readonly steps: number;
  readonly flowShift: number;
}

/** The job that the bars are stated for. */
export const standardJob: QualityJob = {
  prompts: qualityPrompts.length,
  width: 320,
  height: 192,
  frames: 25,
  steps: 10,
  flowShift: 10,
};

/** A device that is open; whoever opened it is asked to close it by disposing of the backend. */
export interface QualityDevice {
  readonly backend: Backend;
  readonly cuda: CudaBackend | null;
  readonly name: string;
}

export interface QualityDevices {
  /** Computes in float32. */
  readonly openReference: () => Promise<QualityDevice>;
  /** The CPU, where another device makes the reference: that one is held against it on the first prompt. */
  readonly openWitness: (() => Promise<QualityDevice>) | null;
  /** Computes in bfloat16; null where there is no GPU. */
  readonly openTested: (() => Promise<QualityDevice>) | null;
}

/** One variant against one other. */
export interface QualityRow {
  readonly variant: string;
  /** `f32`: the reference; else the precision of the same name without skipped steps. */
  readonly against: Precision;
  readonly frames: FrameFigures | null;
  readonly latents: LatentFigures | null;
  /** On identical inputs; of skipped steps, what stands in for them. */
  readonly velocities: VelocityFigures | null;
}

export interface Quality {
  readonly model: string;
  readonly job: QualityJob;
  readonly reference: string;
  readonly tested: string | null;
  readonly rows: readonly QualityRow[];
  readonly bars: readonly Bar[];
  readonly passed: number;
  readonly failed: number;
  /** What could not be measured here. */
  readonly leftOut: readonly string[];
  /** Wall time of each part, seconds. */
  readonly seconds: Readonly<Record<string, number>>;
}
