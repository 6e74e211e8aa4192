// The denoise loop: a generator that yields after every step. It does not know which task it runs: branches, segments and
// guidance are data. Source: spec, section 4; design, section 4 "one graph per step".
import type { Tensor } from '../../backend/index.js';
import { planWideSteps } from '../../models/cosmos3-transformer/index.js';
import type { Networks } from '../networks.js';
import type { PlannedReuse } from '../plan-types.js';
import type { SkipMode } from '../request.js';
import { type BranchName, branchNames, branchWeights } from './guidance.js';
import { GuidanceReuse } from './reuse/guidance-reuse.js';
import { StepCache } from './reuse/step-cache.js';
import type { HeldSession, SessionCache } from './session/session-cache.js';
import type { SessionRun } from './session/session-memory.js';
import type { StepSession, StepVariant } from './session/step-session.js';
import { standInWeights } from './skip.js';
import { StepPace } from './step-pace.js';
import { drawNoise, type NoiseSource } from './targets.js';

export interface DenoiseInput extends Omit<SessionRun, 'stepCache'> {
  /** How skipped steps get their velocity where the step cache skips them. */
  readonly skipMode: SkipMode;
  readonly reuse: PlannedReuse;
  /** Goes on drawing where the initial latents ended, for stochastic samplers. */
  readonly noise: NoiseSource;
  /** Keep each branch's own velocities, for comparison with a reference. */
  readonly keepBranchVelocities?: boolean;
  /** Records all steps that the schedule has, and runs the first. */
  readonly isWarmUp?: boolean;
}

/** State after a step. The tensors are overwritten by the next one. */
export interface DenoiseStep {
  /** 0-based. */
  readonly step: number;
  readonly skipped: boolean;
  /** Branches that went through the network. */
  readonly passes: number;
  /** The last one of this run. */
  readonly isLast: boolean;
  /** One per target. */
  readonly samples: readonly Tensor[];
  /** What the result would be by this step's velocity, one per target. Clean frames are not put in. */
  readonly estimates: readonly Tensor[];
  /** By branch, one per target; only with `keepBranchVelocities`, and only branches that ran. */
  readonly velocities: ReadonlyMap<BranchName, readonly Tensor[]>;
}

/**
 * Runs all steps. What it makes on the device is freed when it ends or is left, or kept by `sessions` for later runs; the
 * conditions may go over to them.
 */
export async function* denoise(
  { backend: b, transformer }: Networks,
  input: DenoiseInput,
  sessions: SessionCache,
): AsyncGenerator<DenoiseStep, void> {
  const { conditions, schedule, reuse, keepBranchVelocities = false } = input;
  const options = { stochastic: schedule.table.stochastic, keepsVelocities: keepBranchVelocities };
  using held = sessions.hold(b, transformer, conditions, options);
  held.session.begin({ ...input, stepCache: reuse.stepCache });
  const wideSteps = planWideSteps(transformer.quantization, schedule.table.steps);
  yield* runSteps(new StepPace(b), held, input, wideSteps);
}

async function* runSteps(
  pace: StepPace,
  held: HeldSession,
  input: DenoiseInput,
  wideSteps: readonly boolean[],
): AsyncGenerator<DenoiseStep, void> {
  const { session } = held;
  const { schedule, conditions } = input;
  const { states } = session.memory;
  const { steps, stochastic } = schedule.table;
  const samples = states.map((state) => state.sample);
  const estimates = states.map((state) => state.data[0]);
  const guidance = new GuidanceReuse(input.reuse.guidanceEvery);
  const judge = new StepJudge(session, input);
  if (input.isWarmUp) recordAll(session, input, wideSteps);
  const last = input.isWarmUp ? 0 : steps - 1;
  for (let step = 0; step <= last; step++) {
    session.memory.setStep(step);
    if (stochastic)
      for (const [i, { item }] of conditions.targets.entries()) session.setNoise(i, drawNoise(item, input.noise));
    const skipped = await judge.isSkipped(step);
    let active: readonly BranchName[] = [];
    if (skipped) session.standIn();
    else {
      const variant = variantOf(input, step, guidance, wideSteps);
      active = variant.active;
      session.compute(variant);
    }
    await pace.next();
    const velocities = new Map([...session.velocities].filter(([name]) => active.includes(name)));
    // Whoever reads the last step may end the loop there.
    if (step === last) held.settle();
    yield { step, skipped, passes: active.length, isLast: step === last, samples, estimates, velocities };
  }
}

function variantOf(
  { guidance, conditions, schedule }: DenoiseInput,
  step: number,
  reuse: GuidanceReuse,
  wideSteps: readonly boolean[],
): StepVariant {
  const weights = branchWeights(guidance, schedule.timesteps[step] ?? 0, conditions.hasControls);
  const work = reuse.decide(step, weights);
  const active = branchNames.filter((name) => (work === 'reuse' ? name === 'cond' : weights[name] !== 0));
  return { active, wide: wideSteps[step] ?? false, guidance: work };
}

function recordAll(session: StepSession, input: DenoiseInput, wideSteps: readonly boolean[]): void {
  const { schedule, skip, reuse } = input;
  const guidance = new GuidanceReuse(reuse.guidanceEvery);
  for (let step = 0; step < schedule.table.steps; step++) session.prepare(variantOf(input, step, guidance, wideSteps));
  if (reuse.stepCache || skip.skipped.includes(true)) session.prepareStandIn();
  if (reuse.stepCache) session.meter(reuse.stepCache);
}

/** Decides which steps are skipped: those of the list, and those that the step cache finds too little changed. */
class StepJudge {
  readonly #session: StepSession;
  readonly #input: DenoiseInput;
  readonly #cache: StepCache | null;
  /** Sigmas of the computed steps. */
  readonly #computed: number[] = [];

  constructor(session: StepSession, input: DenoiseInput) {
    this.#session = session;
    this.#input = input;
    const { stepCache } = input.reuse;
    this.#cache = stepCache && new StepCache(stepCache, input.schedule.table.steps);
  }

  async isSkipped(step: number): Promise<boolean> {
    const { skip, skipMode, schedule, reuse } = this.#input;
    const isListed = skip.skipped[step] ?? false;
    if (!this.#cache || !reuse.stepCache) return isListed;
    const change = await this.#session.measureChange(reuse.stepCache);
    const isSkipped = isListed || !this.#cache.isComputed(step, step === 0 ? Number.POSITIVE_INFINITY : change);
    const sigma = schedule.sigmas[step] as number;
    if (isSkipped) this.#session.setStandIn(step, standInWeights(skipMode, sigma, this.#computed));
    else this.#computed.push(sigma);
    return isSkipped;
  }
}
