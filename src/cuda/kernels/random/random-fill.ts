// Launches `random_fill`.
import type { Runtime } from '../../runtime/runtime.js';
import { flatLaunch, typeNames } from '../elementwise.js';
import type { KernelSource } from '../sources.js';

const randomFill: KernelSource = { file: 'random/random-fill', entry: 'random_fill', signature: 'piifii' };

export interface RandomFill {
  readonly address: number;
  readonly dtype: 'f32' | 'bf16';
  readonly count: number;
  /** 32 bits. */
  readonly seed: number;
  /** Factor on the sum of four bytes less its mean, whose deviation is 147.8. */
  readonly scale: number;
  /** A kernel is laid out taps before channels; 1 for matrices. */
  readonly channels: number;
  readonly taps: number;
}

export function fillRandom(r: Runtime, { address, dtype, count, seed, scale, channels, taps }: RandomFill): void {
  if (count === 0) return;
  const launch = { ...flatLaunch(count), args: [address, count, seed, scale, channels, taps] };
  r.run(randomFill, { DST: typeNames[dtype] }, launch);
}
