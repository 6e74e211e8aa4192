// How the noise is taken away: steps, solver, guidance, seed, and the steps that are skipped. Source: api spec, 2.4, 2.8, 6.2.
import type { Facts, TaskDefaults } from '../../facts.js';
import type { Plan, PlannedGuidance, PlannedSchedule } from '../../plan-types.js';
import type { GenerationRequest, SkipMode } from '../../request.js';
import { finiteNumber, orderedInterval, refuse, stepLimit, type Warn, wholeNumber } from '../ranges.js';
import { planReuse } from './reuse.js';

export const guidanceLimit = 20;
/** Pictures of one generator. */
const drawLimit = 99;

export type Sampling = Pick<Plan, 'steps' | 'schedule' | 'guidance' | 'seed' | 'draw' | 'skip' | 'reuse'>;

/** Guidance that a transfer adds. */
export type ControlGuidance = Pick<PlannedGuidance, 'controlScale' | 'controlInterval'>;

/**
 * Settles the sampler. A distilled checkpoint has its own steps and no guidance.
 * @throws RequestError for steps, guidance, shift, seed or skipped steps out of range
 */
export function planSampling(
  request: GenerationRequest,
  { defaults, control }: { readonly defaults: TaskDefaults; readonly control: ControlGuidance },
  { checkpoint, randomSeed }: Pick<Facts, 'checkpoint' | 'randomSeed'>,
  warn: Warn,
): Sampling {
  const { distilledSigmas } = checkpoint;
  const askedSteps = optional(request.steps, (steps) => wholeNumber('num_inference_steps', steps, 1, stepLimit));
  const askedScale = givenGuidance(request.guidance);
  const flowShift = request.flowShift ?? defaults.flowShift;
  if (!(flowShift > 0 && flowShift <= 1000))
    refuse(
      'invalid_value',
      'flow_shift',
      `flow_shift is ${flowShift}; it must be above 0 and at most 1000: give e.g. 10`,
    );
  const interval = request.guidanceInterval ?? defaults.guidanceInterval;
  const checked = interval && orderedInterval('guidance_interval', interval);
  let [steps, scale] = [askedSteps ?? defaults.steps, askedScale ?? defaults.guidance];
  if (distilledSigmas) {
    const count = distilledSigmas.length;
    if (askedSteps !== undefined && askedSteps !== count)
      warn(
        'num_inference_steps',
        `num_inference_steps ${askedSteps} is ignored: this distilled checkpoint takes ${count} steps`,
      );
    if (askedScale !== undefined && askedScale !== 1)
      warn('guidance_scale', `guidance_scale ${askedScale} is ignored: this distilled checkpoint is made for 1`);
    [steps, scale] = [count, 1];
  }
  return {
    steps,
    schedule: distilledSigmas
      ? { solver: 'flow-euler', sigmas: [...distilledSigmas] }
      : unipcSchedule(request.reference, flowShift),
    guidance: { scale, interval: checked, ...control },
    seed: planSeed(request.seed ?? randomSeed),
    draw: wholeNumber('noise_index', request.draw ?? 0, 0, drawLimit),
    skip: { steps: planSkip(request.skipSteps ?? [], steps), mode: skipMode(request) },
    reuse: planReuse(request, steps, warn),
  };
}

/** The list holds the last velocity, as its original does; a cache extrapolates, which came nearer in the mean. */
function skipMode({ skipMode: asked, stepCache }: GenerationRequest): SkipMode {
  return asked ?? (stepCache ? 'extrapolate' : 'hold');
}

/** The guidance a request states: undefined for none, and for 0, which means the same. @throws RequestError out of range */
export function givenGuidance(guidance: number | undefined): number | undefined {
  return optional(guidance, (scale) => finiteNumber('guidance_scale', scale, 0, guidanceLimit)) || undefined;
}

function unipcSchedule(reference: GenerationRequest['reference'], flowShift: number): PlannedSchedule {
  const { grid = 'native', karras, solverOrder = 2, solverVariant = 'bh2' } = reference ?? {};
  const shared = { solver: 'unipc', flowShift, order: solverOrder, variant: solverVariant } as const;
  if (!karras) return { ...shared, grid, karras: null };
  const { sigmaMin, sigmaMax } = karras;
  if (!(sigmaMin > 0 && sigmaMin <= sigmaMax && Number.isFinite(sigmaMax)))
    refuse('invalid_value', 'karras', `karras sigmas are ${sigmaMin} to ${sigmaMax}; give 0 < sigmaMin <= sigmaMax`);
  return { ...shared, grid: 'karras', karras: { sigmaMin, sigmaMax } };
}

function planSeed(seed: number): number {
  const most = Number.MAX_SAFE_INTEGER;
  if (Number.isSafeInteger(seed) && seed >= 0) return seed;
  return refuse(
    'invalid_value',
    'seed',
    `seed is ${seed}; it must be a whole number from 0 to ${most}: give one, or leave it out`,
  );
}

function planSkip(listed: readonly number[], steps: number): number[] {
  const sorted = [...new Set(listed)].sort((a, b) => a - b);
  for (const step of sorted) {
    if (step === 0)
      refuse('invalid_value', 'skip_steps', 'skip_steps contains 0; the first step must be computed: skip later ones');
    if (!Number.isSafeInteger(step) || step < 0 || step >= steps)
      refuse(
        'invalid_value',
        'skip_steps',
        `skip_steps contains ${step}; steps are counted from 0 to ${steps - 1}: give some of 1 to ${steps - 1}`,
      );
  }
  return sorted;
}

function optional<T>(value: T | undefined, check: (value: T) => T): T | undefined {
  return value === undefined ? undefined : check(value);
}
