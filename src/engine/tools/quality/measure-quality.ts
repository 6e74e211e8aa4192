// The measurement on devices that are given: float32 first, then each precision from the same noise.
import type { CheckpointFacts, Facts } from '../../../pipeline/facts.js';
import type { Networks } from '../../../pipeline/networks.js';
import { plan as makePlan } from '../../../pipeline/plan.js';
import type { Plan } from '../../../pipeline/plan-types.js';
import { RequestError } from '../../../protocol/index.js';
import type { Checkpoint } from '../../../weights/index.js';
import { loadNetworks } from '../../checkpoint/load-networks.js';
import { compareLatents } from '../../flash/compare-latents.js';
import { type Bar, barsOf, referenceBar } from './bars.js';
import { type ClipRun, decodeClip, runClip } from './clip-run.js';
import { Tally } from './measures.js';
import { qualityPrompts } from './prompts.js';
import type { Quality, QualityDevice, QualityDevices, QualityJob, QualityRow } from './quality.js';
import { standInVelocities } from './stand-in.js';
import { chooseVariants, type Precision, precisions, quantizations, type Variant } from './variants.js';

export interface MeasureOptions {
  readonly checkpoint: Checkpoint;
  readonly facts: CheckpointFacts;
  readonly job: QualityJob;
  readonly devices: QualityDevices;
  /** Names of variants; all that the devices can where absent. */
  readonly only?: readonly string[] | undefined;
  readonly onProgress?: ((what: string) => void) | undefined;
}

/**
 * Measures.
 * @throws RequestError for a job that cannot be planned, and for a variant that is none
 */
export async function measureQuality(options: MeasureOptions): Promise<Quality> {
  const { facts, job, devices, only } = options;
  const plans = planClips(facts, job);
  const { openTested, openWitness } = devices;
  const isReferenceTested = openTested === null || openWitness !== null;
  const reduced = precisions.filter((precision) => precision !== 'f32');
  const available: readonly Precision[] = [
    ...(isReferenceTested ? (['f32'] as const) : []),
    ...(openTested === null ? [] : reduced),
  ];
  const chosen = chooseVariants(available, only);
  checkSteps(chosen, job);
  const measuring = new Measuring(options, plans, chosen);
  const reference = await measuring.makeReference();
  if (openWitness !== null) await measuring.witnessReference(openWitness);
  const isTestedNeeded = chosen.some(({ precision }) => precision !== 'f32');
  const tested = openTested !== null && isTestedNeeded ? await measuring.testReduced(openTested) : null;
  return measuring.report(reference, tested);
}

function planClips(checkpoint: CheckpointFacts, job: QualityJob): Plan[] {
  const { prompts, width, height, frames, steps, flowShift } = job;
  if (!(Number.isInteger(prompts) && prompts >= 1 && prompts <= qualityPrompts.length))
    throw new RequestError(
      'invalid_value',
      'prompts',
      `prompts is ${prompts}; there are ${qualityPrompts.length}: give a whole number from 1 to ${qualityPrompts.length}`,
    );
  const facts: Facts = { checkpoint, image: null, video: null, hints: [], randomSeed: 0 };
  return qualityPrompts.slice(0, prompts).map((prompt, seed) => {
    const request = {
      task: 'text-to-video',
      prompt,
      width,
      height,
      frames,
      steps,
      flowShift,
      guidance: 1,
      seed,
    } as const;
    return makePlan(request, facts).plan;
  });
}

function checkSteps(chosen: readonly Variant[], { steps }: QualityJob): void {
  for (const { name, skip } of chosen) {
    const last = Math.max(0, ...(skip?.steps ?? []));
    if (last >= steps)
      throw new RequestError(
        'invalid_value',
        'num_inference_steps',
        `num_inference_steps is ${steps}, and ${name} skips step ${last}, counted from 0: give at least ${last + 1}, or name other variants`,
      );
  }
}

/** Collects as it goes from device to device. */
class Measuring {
  readonly #options: MeasureOptions;
  readonly #plans: readonly Plan[];
  readonly #chosen: readonly Variant[];
  readonly #references: ClipRun[] = [];
  readonly #toReference = new Map<string, Tally>();
  readonly #toUnskipped = new Map<string, Tally>();
  readonly #bars: Bar[] = [];
  readonly #leftOut: string[] = [];
  readonly #seconds: Record<string, number> = {};

  constructor(options: MeasureOptions, plans: readonly Plan[], chosen: readonly Variant[]) {
    this.#options = options;
    this.#plans = plans;
    this.#chosen = chosen;
    for (const { name, precision, skip } of chosen) {
      this.#toReference.set(name, new Tally());
      if (skip !== null && precision !== 'f32') this.#toUnskipped.set(name, new Tally());
    }
  }

  /** Runs all prompts in float32, and float32's own variants on the same device. @returns the device's name */
  async makeReference(): Promise<string> {
    const { devices } = this.#options;
    return this.#on(devices.openReference, async (device) => {
      const networks = await this.#load('f32', device);
      await this.#timed('reference', async () => {
        for (const [i, plan] of this.#plans.entries()) {
          this.#say(`reference, ${device.name}: prompt ${i + 1} of ${this.#plans.length}`);
          this.#references.push(await runClip(plan, networks));
        }
      });
      if (this.#has('f32')) await this.#timed('f32', () => this.#testPrecision('f32', networks));
    });
  }

  /** Holds the reference against a second device, velocity by velocity, on the first prompt. */
  async witnessReference(open: () => Promise<QualityDevice>): Promise<void> {
    const [plan] = this.#plans;
    const [reference] = this.#references;
    if (!plan || !reference) return;
    await this.#timed('witness', () =>
      this.#on(open, async (device) => {
        this.#say(`the reference against ${device.name}`);
        const witness = await runClip(plan, await this.#load('f32', device), reference.samples);
        const distances = witness.velocities.map((velocity, step) => {
          const own = reference.velocities[step];
          return velocity && own ? compareLatents(own, velocity).relL2 : Number.NaN;
        });
        this.#bars.push(referenceBar(Math.max(...distances)));
      }),
    );
  }

  /** Runs the reduced precisions, one after another, on one device. @returns the device's name */
  async testReduced(open: () => Promise<QualityDevice>): Promise<string> {
    return this.#on(open, async (device) => {
      for (const precision of precisions) {
        if (precision === 'f32' || !this.#has(precision)) continue;
        if (this.#options.only === undefined && !this.#canServe(precision, device)) {
          this.#leftOut.push(`${precision}: ${device.name} has no products in eight bits`);
          continue;
        }
        await this.#timed(precision, async () => this.#testPrecision(precision, await this.#load(precision, device)));
      }
    });
  }

  report(reference: string, tested: string | null): Quality {
    const { facts, job } = this.#options;
    const measured = this.#chosen.filter(({ name }) => this.#toReference.get(name)?.isEmpty === false);
    const bars = [...this.#bars, ...measured.flatMap((variant) => barsOf(variant, this.#toReference))];
    const passed = bars.filter((bar) => bar.passed).length;
    return {
      model: facts.id,
      job,
      reference,
      tested,
      rows: measured.flatMap(({ name, precision }) => [
        ...rowOf(name, 'f32', this.#toReference.get(name)),
        ...rowOf(name, precision, this.#toUnskipped.get(name)),
      ]),
      bars,
      passed,
      failed: bars.length - passed,
      leftOut: this.#leftOut,
      seconds: this.#seconds,
    };
  }

  #has(precision: Precision): boolean {
    return this.#chosen.some((variant) => variant.precision === precision);
  }

  #canServe(precision: Precision, { backend }: QualityDevice): boolean {
    const { format = 'dense' } = quantizations[precision] ?? {};
    return backend.weightFormats.includes(format);
  }

  async #load(precision: Precision, { backend, cuda }: QualityDevice): Promise<Networks> {
    const quantization = quantizations[precision];
    const { networks } = loadNetworks(this.#options.checkpoint, backend, { cuda, quantization });
    await backend.synchronize();
    return networks;
  }

  async #testPrecision(precision: Precision, networks: Networks): Promise<void> {
    const own = this.#chosen.filter((variant) => variant.precision === precision);
    for (const [i, plan] of this.#plans.entries()) {
      this.#say(`${precision}, ${networks.backend.name}: prompt ${i + 1} of ${this.#plans.length}`);
      const reference = this.#references[i] as ClipRun;
      const prompt = new PromptRuns(plan, networks, precision === 'f32' ? reference : null);
      for (const variant of own) await this.#testVariant(variant, { plan, networks, reference, prompt });
    }
  }

  async #testVariant(variant: Variant, { plan, networks, reference, prompt }: VariantContext): Promise<void> {
    const { name, part, skip, precision } = variant;
    const tally = this.#toReference.get(name) as Tally;
    const frameBytes = plan.content.width * plan.content.height * 3;
    if (part === 'decode') {
      tally.frames(await decodeClip(networks, reference.latents), reference.frames, frameBytes);
      return;
    }
    const run =
      skip !== null
        ? await runClip({ ...plan, skip }, networks)
        : precision === 'f32'
          ? await runClip(plan, networks)
          : await prompt.unskipped();
    tally.frames(run.frames, reference.frames, frameBytes);
    tally.latents(run.latents.data, reference.latents.data);
    const forced = await prompt.forcedVelocities(reference);
    tally.velocities(skip === null ? forced : standInVelocities({ ...plan, skip }, forced), reference.velocities);
    const second = this.#toUnskipped.get(name);
    if (second === undefined) return;
    const unskipped = await prompt.unskipped();
    second.frames(run.frames, unskipped.frames, frameBytes);
    second.latents(run.latents.data, unskipped.latents.data);
  }

  async #on(open: () => Promise<QualityDevice>, body: (device: QualityDevice) => Promise<void>): Promise<string> {
    const device = await open();
    try {
      await body(device);
      return device.name;
    } finally {
      await device.backend[Symbol.asyncDispose]();
    }
  }

  async #timed(part: string, body: () => Promise<unknown>): Promise<void> {
    const start = performance.now();
    await body();
    this.#seconds[part] = (performance.now() - start) / 1000;
  }

  #say(what: string): void {
    this.#options.onProgress?.(what);
  }
}

interface VariantContext {
  readonly plan: Plan;
  readonly networks: Networks;
  readonly reference: ClipRun;
  readonly prompt: PromptRuns;
}

/** Runs of one prompt in one precision that several variants share, each made when first asked for. */
class PromptRuns {
  #unskipped: ClipRun | null;
  #forced: ClipRun | null;

  /** @param known both, where the precision is the reference's own. */
  constructor(
    private readonly plan: Plan,
    private readonly networks: Networks,
    known: ClipRun | null,
  ) {
    this.#unskipped = known;
    this.#forced = known;
  }

  async unskipped(): Promise<ClipRun> {
    this.#unskipped ??= await runClip(this.plan, this.networks);
    return this.#unskipped;
  }

  /** Velocities of all steps on the reference's samples. */
  async forcedVelocities(reference: ClipRun): Promise<ClipRun['velocities']> {
    this.#forced ??= await runClip(this.plan, this.networks, reference.samples);
    return this.#forced.velocities;
  }
}

function rowOf(variant: string, against: Precision, tally: Tally | undefined): QualityRow[] {
  if (tally === undefined) return [];
  const { frameFigures: frames, latentFigures: latents, velocityFigures: velocities } = tally;
  return [{ variant, against, frames, latents, velocities }];
}
