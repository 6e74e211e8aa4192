// `orrery bench`: how fast this machine multiplies, attends and convolves, and how long one tiny clip takes.
import { availableParallelism } from 'node:os';
import { type EngineConfig, readConfig } from '../../config.js';
import { benchDevice, type DeviceBench } from '../../loader.js';
import { Orrery } from '../../orrery.js';

/** What is measured. */
export interface BenchOptions {
  /** Thread counts; 1 and all where absent. */
  readonly threads?: readonly number[] | undefined;
  /** Seconds per measurement. */
  readonly seconds?: number | undefined;
}

/** The measurements. */
export interface Bench extends DeviceBench {
  /** Wall time of one clip of the package's checkpoint, weights loaded. */
  readonly clip: {
    readonly frames: number;
    readonly width: number;
    readonly height: number;
    readonly steps: number;
    readonly seconds: number;
  };
}

const clip = { width: 128, height: 96, frames: 9, steps: 4, seed: 1 };

/** Measures the CPU device. */
export async function benchMachine(options: BenchOptions, config: EngineConfig = readConfig()): Promise<Bench> {
  const threads = options.threads ?? [...new Set([1, availableParallelism()])];
  const blas = config.blas === 'off' ? null : config.blas;
  const measured = await benchDevice({
    threads,
    ...(blas === undefined ? {} : { blas }),
    ...(options.seconds === undefined ? {} : { seconds: options.seconds }),
  });
  return { ...measured, clip: { ...clip, seconds: await timeClip(config) } };
}

async function timeClip(config: EngineConfig): Promise<number> {
  await using orrery = await Orrery.load({ config });
  await orrery.loadWeights();
  const start = performance.now();
  await orrery.generate({ prompt: 'A red ball rolls to the right.', ...clip }).result();
  return (performance.now() - start) / 1000;
}
