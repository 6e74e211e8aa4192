// What measuring a job gives.
import type { Quantization, Tower } from '../../../models/cosmos3-transformer/index.js';
import type { RunTimes, StepTimes } from './run-job.js';
import type { OpTimes } from './timed-backend.js';

/** A measured job. Seconds, bytes and operations per second unless a name says otherwise. */
export interface PipelineBench {
  readonly device: string;
  readonly libraries: string;
  readonly model: string;
  readonly quantization: Quantization | null;
  /** Towers whose layers lay in the host's memory between uses. */
  readonly offload: readonly Tower[];
  readonly job: {
    readonly task: string;
    readonly width: number;
    readonly height: number;
    readonly frames: number;
    readonly steps: number;
    readonly branches: number;
    readonly textTokens: number;
    readonly visionTokens: number;
    readonly skippedSteps: readonly number[];
  };
  readonly openSeconds: number;
  readonly loadSeconds: number;
  readonly cold: RunTimes;
  /** Medians. */
  readonly warm: RunTimes;
  readonly coldMinusWarmSeconds: number;
  readonly step: StepTimes | null;
  /** One step and one decode op by op, milliseconds. */
  readonly ops: { readonly step: OpTimes | null; readonly decode: OpTimes | null };
  /** Achieved, operations per second. */
  readonly rates: {
    readonly step: number | null;
    readonly gemm: number | null;
    readonly attention: number | null;
    readonly decode: number | null;
  };
  /** Least times at the rates measured on an H200, and what is reached as a multiple of them; null on a CPU. */
  readonly floor: {
    readonly stepMs: number;
    readonly decodeSeconds: number;
    readonly stepRatio: number | null;
    readonly decodeRatio: number | null;
  } | null;
  readonly memory: {
    readonly peakReservedBytes: number;
    readonly peakAllocatedBytes: number;
    readonly estimateBytes: number;
  } | null;
  readonly kernels: {
    readonly compiled: number;
    readonly fromDisk: number;
    readonly compileMs: number;
    readonly launches: number;
  } | null;
  /** What computes which shapes. */
  readonly choices: {
    readonly cudnn: string;
    readonly fp8: string | null;
    readonly attention: readonly string[];
    readonly convolution: readonly string[];
  } | null;
}
