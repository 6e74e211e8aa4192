// Launches `pack_weight`.
import type { DType } from '../../../backend/index.js';
import type { Runtime } from '../../runtime/runtime.js';
import { flatLaunch, typeNames } from '../elementwise.js';
import type { KernelSource } from '../sources.js';

const packWeightKernel: KernelSource = {
  file: 'products/pack-weight',
  entry: 'pack_weight',
  signature: 'pppiiiiiii',
};

/** Stored rows `[rows, channels, taps]` and where they go, `[rows, taps, toChannels]`. */
export interface WeightPacking {
  readonly to: number;
  readonly toDtype: DType;
  readonly toChannels: number;
  readonly firstChannel: number;
  readonly from: number;
  readonly fromDtype: DType;
  readonly rows: number;
  readonly channels: number;
  readonly taps: number;
  /** Address of float32 factors, 0 for none, and how many to go on by each row and each channel. */
  readonly scales: number;
  readonly rowScale: number;
  readonly channelScale: number;
}

export function packWeight(r: Runtime, packing: WeightPacking): void {
  const { to, toDtype, toChannels, firstChannel, from, fromDtype, rows, channels, taps } = packing;
  const count = rows * channels * taps;
  if (count === 0) return;
  const { scales, rowScale, channelScale } = packing;
  r.run(
    packWeightKernel,
    { SRC: typeNames[fromDtype], DST: typeNames[toDtype] },
    {
      ...flatLaunch(count),
      args: [to, from, scales, count, channels, taps, toChannels, firstChannel, rowScale, channelScale],
    },
  );
}
