// What a run of the denoise loop is conditioned on, as it lies on the device. The loop does not know which task it is.
import type { Tensor } from '../../backend/index.js';
import type { GenContext, GenSegment } from '../../models/cosmos3-transformer/index.js';
import type { BranchName } from './guidance.js';
import type { Target } from './targets.js';

/** One pass through the generation tower: its text, and the segments given the current samples. */
export interface Branch {
  readonly name: BranchName;
  readonly context: GenContext;
  readonly segments: (samples: readonly Tensor[]) => readonly GenSegment[];
  /** Rows of all segments. */
  readonly rows: number;
}

export interface Conditions {
  readonly targets: readonly Target[];
  readonly branches: readonly Branch[];
  readonly hasControls: boolean;
  /** Two conditions of equal layout differ in their texts and in the contents of `tensors`, and in nothing else. */
  readonly layout: string;
  /** Device data, in an order that the layout fixes. Masks and clean values of targets and the texts are not among them. */
  readonly tensors: readonly Tensor[];
  /** Gives the device data to the caller, who frees it from then on. */
  handOver(): Disposable;
}
