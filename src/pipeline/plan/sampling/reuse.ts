// Steps and guidance that are not computed where an earlier result stands in for them. Both are off unless asked for. Source: api
// spec, 6.4; performance spec, E.12 and E.13.
import type { PlannedReuse, PlannedStepCache } from '../../plan-types.js';
import type { GenerationRequest, StepCacheRequest } from '../../request.js';
import { finiteNumber, refuse, stepLimit, type Warn, wholeNumber } from '../ranges.js';

/** What a kind of step cache does where the request is silent. */
interface KindDefaults {
  readonly threshold: number;
  readonly maxConsecutive: number;
}

const kindDefaults: Readonly<Record<PlannedStepCache['kind'], KindDefaults>> = {
  teacache: { threshold: 0.2, maxConsecutive: 3 },
  seacache: { threshold: 0.25, maxConsecutive: 2 },
};

const mostCoefficients = 8;

/** Early steps settle what is in the picture; with a shift of 10 the first third of them lies at the highest noise. */
const warmupShare = 1 / 3;

/**
 * Settles what is reused.
 * @throws RequestError for values out of range
 */
export function planReuse(
  { stepCache, guidanceEvery = 1 }: Pick<GenerationRequest, 'stepCache' | 'guidanceEvery'>,
  steps: number,
  warn: Warn,
): PlannedReuse {
  const every = wholeNumber('guidance_cache_every', guidanceEvery, 1, stepLimit);
  return { stepCache: stepCache ? planStepCache(stepCache, steps, warn) : null, guidanceEvery: every };
}

function planStepCache(request: StepCacheRequest, steps: number, warn: Warn): PlannedStepCache {
  const { kind } = request;
  const defaults = kindDefaults[kind];
  const threshold = finiteNumber('step_cache_threshold', request.threshold ?? defaults.threshold, 0, 100);
  const warmupSteps = wholeNumber(
    'step_cache_warmup',
    request.warmupSteps ?? Math.ceil(steps * warmupShare),
    0,
    stepLimit,
  );
  const maxConsecutive = wholeNumber(
    'step_cache.max_consecutive',
    request.maxConsecutive ?? defaults.maxConsecutive,
    1,
    stepLimit,
  );
  const { coefficients = [], power = 3 } = request;
  if (coefficients.length > mostCoefficients || !coefficients.every(Number.isFinite))
    refuse(
      'invalid_value',
      'step_cache.coefficients',
      `step_cache.coefficients has ${coefficients.length} entries; give at most ${mostCoefficients} numbers, highest power first`,
    );
  if (kind === 'seacache' && coefficients.length > 0)
    warn('step_cache.coefficients', 'coefficients change nothing: seacache adds changes as they are');
  if (warmupSteps + 2 > steps)
    warn(
      'step_cache',
      `step_cache skips nothing: of ${steps} steps the first ${Math.max(1, warmupSteps)} and the last are always computed; ask for more steps, or a smaller warm-up`,
    );
  return {
    kind,
    threshold,
    warmupSteps,
    maxConsecutive,
    coefficients: kind === 'teacache' ? [...coefficients] : [],
    power: finiteNumber('step_cache.power', power, 0.5, 8),
  };
}
