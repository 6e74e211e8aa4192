// What reuse costs in quality: each variant against the whole run, from the same noise, on one device.
import type { CheckpointFacts, Facts } from '../../../../pipeline/facts.js';
import { generate } from '../../../../pipeline/generate.js';
import type { Networks } from '../../../../pipeline/networks.js';
import { plan as makePlan } from '../../../../pipeline/plan.js';
import type { Plan } from '../../../../pipeline/plan-types.js';
import { RunCaches } from '../../../../pipeline/run-caches.js';
import { WorkTally } from '../../../run/work-tally.js';
import { type LatentFigures, Tally } from '../measures.js';
import { qualityPrompts } from '../prompts.js';
import type { QualityJob } from '../quality.js';
import { type ReuseVariant, reuseVariants } from './reuse-variants.js';

/** Guidance is on, since it is what is reused. */
export interface ReuseJob extends QualityJob {
  readonly guidance: number;
}

export interface ReuseRow {
  readonly name: string;
  /** Share of the steps that were computed, and of the passes through the network, over all prompts. */
  readonly steps: number;
  readonly passes: number;
  readonly latents: LatentFigures;
}

export interface ReuseQuality {
  readonly model: string;
  readonly job: ReuseJob;
  readonly device: string;
  readonly rows: readonly ReuseRow[];
}

export interface MeasureReuseOptions {
  readonly facts: CheckpointFacts;
  readonly networks: Networks;
  readonly job: ReuseJob;
  /** Names of variants; all where absent. */
  readonly only?: readonly string[] | undefined;
  readonly onProgress?: ((what: string) => void) | undefined;
}

const noInputs = { image: null, video: null, controls: new Map() };

/** Measures, prompt by prompt. @throws RequestError for a job that cannot be planned */
export async function measureReuse(options: MeasureReuseOptions): Promise<readonly ReuseRow[]> {
  const { facts, networks, job, only, onProgress } = options;
  const chosen = reuseVariants.filter(({ name }) => only === undefined || only.includes(name));
  using caches = new RunCaches({ textBytes: 2 ** 30, sessions: 0, sessionBytes: 0 });
  const rows = chosen.map((variant) => ({ variant, tally: new Tally(), steps: [0, 0], passes: [0, 0] }));
  for (const [seed, prompt] of qualityPrompts.slice(0, job.prompts).entries()) {
    onProgress?.(`prompt ${seed + 1} of ${job.prompts}`);
    const whole = await run(planClip(facts, job, prompt, seed, {}), networks, caches);
    for (const row of rows) {
      const reused = await run(planClip(facts, job, prompt, seed, row.variant), networks, caches);
      row.tally.latents(reused.latents, whole.latents);
      for (const [i, work] of [reused.work, whole.work].entries()) {
        row.steps[i] = (row.steps[i] ?? 0) + work.computedSteps;
        row.passes[i] = (row.passes[i] ?? 0) + work.passes;
      }
    }
  }
  const share = ([part = 0, all = 1]: readonly number[]) => part / all;
  return rows.flatMap(({ variant: { name }, tally, steps, passes }) =>
    tally.latentFigures ? [{ name, steps: share(steps), passes: share(passes), latents: tally.latentFigures }] : [],
  );
}

function planClip(
  checkpoint: CheckpointFacts,
  { width, height, frames, steps, flowShift, guidance }: ReuseJob,
  prompt: string,
  seed: number,
  { stepCache, skipMode, guidanceEvery }: Omit<ReuseVariant, 'name'>,
): Plan {
  const facts: Facts = { checkpoint, image: null, video: null, hints: [], randomSeed: 0 };
  const clip = { prompt, width, height, frames, steps, flowShift, guidance, seed };
  return makePlan(
    {
      task: frames === 1 ? 'text-to-image' : 'text-to-video',
      ...clip,
      ...(stepCache && { stepCache }),
      ...(skipMode && { skipMode }),
      ...(guidanceEvery && { guidanceEvery }),
    },
    facts,
  ).plan;
}

async function run(plan: Plan, networks: Networks, caches: RunCaches) {
  const tally = new WorkTally();
  let latents = new Float32Array();
  for await (const event of generate(plan, networks, noInputs, { latents: true, skipFrames: true, caches })) {
    if (event.type === 'step' || event.type === 'text') tally.add(event);
    if (event.type === 'latents' && event.modality === 'vision') latents = event.data.slice();
  }
  return { latents, work: tally.work };
}

/** The lines of the table, as Markdown. */
export function describeReuse({ model, job, device, rows }: ReuseQuality): readonly string[] {
  const percent = (fraction: number, digits: number) => `${(100 * fraction).toFixed(digits)} %`;
  return [
    `${model}: ${job.prompts} prompts, ${job.width}x${job.height}, ${job.frames} frames, ${job.steps} steps, shift ${job.flowShift}, guidance ${job.guidance}, ${device}`,
    '',
    '| | steps computed | passes | latents, cosine | worst | relative L2 | worst |',
    '|---|---|---|---|---|---|---|',
    ...rows.map(({ name, steps, passes, latents: { cosine, worstCosine, relativeL2, worstRelativeL2 } }) =>
      [
        '',
        name,
        percent(steps, 0),
        percent(passes, 0),
        cosine.toFixed(4),
        worstCosine.toFixed(4),
        percent(relativeL2, 1),
        percent(worstRelativeL2, 1),
        '',
      ]
        .join(' | ')
        .trim(),
    ),
  ];
}
