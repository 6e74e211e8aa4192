// Runs a job for its times: whole, one step op by op, one decode op by op.
import { uploadFloats } from '../../../backend/index.js';
import type { Tiling } from '../../../models/wan-vae/index.js';
import { decodeVision } from '../../../pipeline/decode/decode.js';
import { NoiseGenerator } from '../../../pipeline/denoise/schedule.js';
import { generate } from '../../../pipeline/generate.js';
import type { PlanInputs } from '../../../pipeline/inputs.js';
import type { Networks } from '../../../pipeline/networks.js';
import type { Plan } from '../../../pipeline/plan-types.js';
import type { RunCaches } from '../../../pipeline/run-caches.js';
import type { OpTimer, OpTimes, ReplayTimes } from './timed-backend.js';

export const benchPhases = ['all', 'denoise', 'decode'] as const;
export type BenchPhase = (typeof benchPhases)[number];

/** What is run. */
export interface Job {
  readonly plan: Plan;
  readonly inputs: PlanInputs;
  readonly phase: BenchPhase;
  /** Null where frames are decoded whole. */
  readonly tiling: Tiling | null;
}

/** Seconds of the parts of one run. */
export interface RunTimes {
  readonly text: number;
  /** Noise, tables and, in a cold run or one too large to keep, recording the step. */
  readonly prepare: number;
  readonly denoise: number;
  readonly decode: number;
  readonly total: number;
}

export interface StepTimes {
  readonly medianMs: number;
  readonly minMs: number;
  /** Of the host, to hand a step over. */
  readonly hostMs: number;
  /** Of the device, between two steps. */
  readonly idleMs: number;
}

/** One run of the job; every part waits for the device. `caches` keeps what a server would between two jobs. */
export async function runOnce(networks: Networks, job: Job, caches: RunCaches): Promise<RunTimes> {
  const { plan, inputs, phase, tiling } = job;
  const { backend } = networks;
  const start = performance.now();
  if (phase === 'decode') {
    const decode = await decodeNoise(networks, job);
    return { text: 0, prepare: 0, denoise: 0, decode, total: decode };
  }
  const marks: { readonly name: string; readonly at: number }[] = [];
  const options = { skipFrames: phase === 'denoise', caches, ...(tiling && { tiling }) };
  for await (const event of generate(plan, networks, inputs, options)) {
    if (event.type === 'step') marks.push({ name: 'step', at: performance.now() });
    if (event.type !== 'phase') continue;
    await backend.synchronize();
    marks.push({ name: event.phase, at: performance.now() });
  }
  await backend.synchronize();
  const end = performance.now();
  const at = (name: string) => marks.find((mark) => mark.name === name)?.at ?? end;
  // The first step ends with its capture behind it; the loop's pace tells when it would have begun.
  const ends = marks.filter(({ name }) => name === 'step').map((mark) => mark.at);
  const last = phase === 'denoise' ? end : at('decode');
  const first = ends[0] ?? end;
  const pace = ends.length > 1 ? (last - first) / (ends.length - 1) : last - at('denoise');
  const begin = Math.max(at('denoise'), first - pace);
  return {
    text: (at('encode') - at('text')) / 1000,
    prepare: (begin - at('encode')) / 1000,
    denoise: (last - begin) / 1000,
    decode: phase === 'denoise' ? 0 : (end - at('decode')) / 1000,
    total: (end - start) / 1000,
  };
}

/** Decodes latents of noise; the seconds it took. */
async function decodeNoise(networks: Networks, { plan, tiling }: Pick<Job, 'plan' | 'tiling'>): Promise<number> {
  const { backend: b, vae, transformer } = networks;
  const { spatialFactor, temporalFactor } = vae.config;
  const { width, height } = plan.content;
  const shape = [
    Math.ceil((plan.frames - 1) / temporalFactor) + 1,
    height / spatialFactor,
    width / spatialFactor,
    transformer.config.latentChannels,
  ];
  const count = shape.reduce((product, size) => product * size, 1);
  using latents = uploadFloats(b, new NoiseGenerator(1).normal(count), shape);
  await b.synchronize();
  const start = performance.now();
  for await (const _ of decodeVision(networks, latents, { ...(tiling && { tiling }) }));
  await b.synchronize();
  return (performance.now() - start) / 1000;
}

/** The second step, op by op; the first one warms up. */
export async function oneStep(networks: Networks, { plan, inputs }: Job, timer: OpTimer): Promise<OpTimes> {
  let done = 0;
  for await (const event of generate({ ...plan, skip: { ...plan.skip, steps: [] } }, networks, inputs, {
    skipFrames: true,
  })) {
    if (event.type !== 'step' || ++done > 2) continue;
    await networks.backend.synchronize();
    const times = timer.take();
    if (done === Math.min(2, plan.steps)) return times;
  }
  return timer.take();
}

/** One decode, op by op. */
export async function oneDecode(networks: Networks, job: Job, timer: OpTimer): Promise<OpTimes> {
  timer.take();
  await decodeNoise(networks, job);
  return timer.take();
}

/** Medians over runs; skipped steps are left out. */
export function stepTimes(runs: readonly ReplayTimes[], plan: Plan): StepTimes {
  const skipped = new Set(plan.skip.steps);
  const computed = runs.flatMap(({ deviceMs }) => deviceMs.filter((_, i) => !skipped.has(i)));
  return {
    medianMs: median(computed),
    minMs: Math.min(...computed),
    hostMs: median(runs.flatMap(({ hostMs }) => hostMs)),
    idleMs: median(runs.flatMap(({ idleMs }) => idleMs)),
  };
}

/** Medians over runs. */
export function medianTimes(runs: readonly RunTimes[]): RunTimes {
  const of = (name: keyof RunTimes) => median(runs.map((run) => run[name]));
  return { text: of('text'), prepare: of('prepare'), denoise: of('denoise'), decode: of('decode'), total: of('total') };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
