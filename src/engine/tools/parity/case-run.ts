// Runs one golden case through plan and pipeline and compares every value the case holds, in the order they arise.

import type { Recorder } from '../../../pipeline/denoise/recorder.js';
import { makeSchedule, NoiseGenerator } from '../../../pipeline/denoise/schedule.js';
import type { NoiseSource } from '../../../pipeline/denoise/targets.js';
import type { CheckpointFacts, Facts } from '../../../pipeline/facts.js';
import { type GenerateOptions, generate } from '../../../pipeline/generate.js';
import type { Networks } from '../../../pipeline/networks.js';
import { plan as makePlan } from '../../../pipeline/plan.js';
import type { Plan } from '../../../pipeline/plan-types.js';
import { prepareCase } from './case-request.js';
import { type CaseInfo, type GoldenFolder, type GoldenTensor, GoldenTensors } from './golden.js';
import { type Boundary, type Comparison, compare, type Tolerances } from './tolerances.js';

export interface CaseContext {
  readonly folder: GoldenFolder;
  readonly networks: Networks;
  readonly checkpoint: CheckpointFacts;
  readonly useSystemPrompt: boolean;
  readonly tolerances: Tolerances;
}

/** Compares with the case's tensor of that name, or with `expected` where only a part of it is ours. */
type Compare = (
  boundary: Boundary,
  name: string,
  actual: ArrayLike<number> | undefined,
  expected?: ArrayLike<number>,
) => void;

/** Comparisons of one case; a tensor the case does not hold is not compared. */
export async function runCase(context: CaseContext, name: string): Promise<Comparison[]> {
  const { folder, networks, tolerances } = context;
  const info = folder.index[name] as CaseInfo;
  const golden = GoldenTensors.read(folder, name);
  const prepared = await prepareCase(folder, info, golden, context.useSystemPrompt);
  const facts: Facts = {
    checkpoint: { ...context.checkpoint, distilledSigmas: info.distilled_sigmas ?? null },
    image: prepared.image,
    video: prepared.video,
    hints: prepared.hints,
    randomSeed: 0,
  };
  const { plan } = makePlan(prepared.request, facts);
  // Rounded networks are held to the reference pass by pass: each starts from the reference's own latents.
  const isForced = networks.backend.activationDtype !== 'f32';
  const recorded = new Recording(isForced ? { golden, steps: plan.steps } : null);
  const options: GenerateOptions = {
    recorder: recorded,
    skipFrames: !golden.get('video_u8') && !plan.transfer,
    ...(golden.get('noise/00') && { noise: replayNoise(golden) }),
  };
  const result = await collect(generate(plan, networks, prepared.inputs, options));
  const comparisons: Comparison[] = [];
  const check: Compare = (boundary, key, actual, part) => {
    const expected = part ?? golden.get(key)?.values;
    if (expected) comparisons.push(compare(tolerances, boundary, key, actual ?? [], expected));
  };
  checkStart(plan, golden, check);
  if (golden.keys.some((key) => key.startsWith('call'))) checkCalls(plan, golden, recorded, check);
  else checkSteps(plan, golden, recorded, check);
  check('pixels', 'video_u8', result.rgb);
  check('sound', 'sound', result.sound);
  check('action', 'action', result.action);
  return comparisons;
}

class Recording implements Recorder {
  readonly values = new Map<string, { readonly shape: readonly number[]; readonly values: Float32Array }>();
  #calls = 0;

  /** @param forced what steps go on with: the case's latents, where it has them. */
  constructor(private readonly forced: { readonly golden: GoldenTensors; readonly steps: number } | null) {}

  record(key: string, shape: readonly number[], values: Float32Array): void {
    this.values.set(key, { shape, values: values.slice() });
    if (key.endsWith('/vision/velocity')) this.#calls++;
  }

  replace(key: string): Float32Array | undefined {
    const [, step = '', modality = ''] = key.split('/');
    if (this.forced === null || Number(step) + 1 >= this.forced.steps) return undefined;
    const { golden } = this.forced;
    const name = modality === 'vision' ? 'latents' : `${modality}_latents`;
    const places = [`step${twoDigits(Number(step))}/${name}`, `call${twoDigits(this.#calls)}/${name}`];
    const values = places.map((place) => golden.get(place)?.values).find((found) => found !== undefined);
    return values instanceof Float32Array ? values : undefined;
  }

  get(key: string): Float32Array | undefined {
    return this.values.get(key)?.values;
  }
}

/** The case's own draws, for cases that state no seed. */
function replayNoise(golden: GoldenTensors): NoiseSource {
  let draw = 0;
  return { normal: () => golden.floats(`noise/${String(draw++).padStart(2, '0')}`) };
}

async function collect(events: ReturnType<typeof generate>) {
  const frames: Uint8Array[] = [];
  let sound: Float32Array | undefined;
  let action: number[] | undefined;
  for await (const event of events) {
    if (event.type === 'frames') frames.push(event.data);
    if (event.type === 'sound') sound = Float32Array.from(event.waveform.channels.flatMap((samples) => [...samples]));
    if (event.type === 'actions') action = event.rows.flat();
  }
  return { rgb: Buffer.concat(frames), sound, action };
}

function checkStart(plan: Plan, golden: GoldenTensors, check: Compare): void {
  check('ids', 'cond/input_ids', plan.prompt.tokens);
  check('ids', 'uncond/input_ids', plan.negativePrompt?.tokens);
  const generator = new NoiseGenerator(plan.seed);
  for (const modality of ['vision', 'sound', 'action']) {
    const key = `noise/${modality}`;
    const tensor = golden.get(key);
    if (tensor) check('noise', key, generator.normal(tensor.values.length));
  }
  const schedule = makeSchedule(plan);
  check('schedule', 'sigmas', schedule.sigmas);
  check('schedule', 'timesteps', schedule.timesteps);
}

/** `[3, L + S]`: text positions, then the recorded ones. */
function wholePositions(textTokens: number, rows: Float32Array | undefined): Float32Array {
  const count = (rows?.length ?? 0) / 3;
  const out = new Float32Array(3 * (textTokens + count));
  for (let axis = 0; axis < 3; axis++) {
    const start = axis * (textTokens + count);
    for (let i = 0; i < textTokens; i++) out[start + i] = i;
    if (rows) out.set(rows.subarray(axis * count, (axis + 1) * count), start + textTokens);
  }
  return out;
}

const twoDigits = (value: number) => String(value).padStart(2, '0');

function checkSteps(plan: Plan, golden: GoldenTensors, recorded: Recording, check: Compare): void {
  for (const branch of ['cond', 'uncond'] as const) {
    const tokens = (branch === 'cond' ? plan.prompt : plan.negativePrompt)?.tokens.length ?? 0;
    check('positions', `${branch}/position_ids`, wholePositions(tokens, recorded.get(`0/${branch}/positions`)));
  }
  checkEncoded(golden, 'vision_condition_latent', recorded, '0/encoded/0', check);
  for (let step = 0; step < plan.steps; step++) {
    const at = `step${twoDigits(step)}`;
    for (const branch of ['cond', 'uncond'] as const) {
      check('velocity', `${at}/${branch}/velocity`, recorded.get(`0/${step}/${branch}/vision/velocity`));
      check('velocity', `${at}/${branch}/velocity_sound`, recorded.get(`0/${step}/${branch}/sound/velocity`));
      check('velocity', `${at}/${branch}/velocity_action`, recorded.get(`0/${step}/${branch}/action/velocity`));
    }
    check('latents', `${at}/latents`, recorded.get(`0/${step}/vision/latents`));
    check('latents', `${at}/sound_latents`, recorded.get(`0/${step}/sound/latents`));
    check('latents', `${at}/action_latents`, recorded.get(`0/${step}/action/latents`));
  }
}

/** Cases that list every network call: per chunk and step the branches in order, and the encodings before them. */
function checkCalls(plan: Plan, golden: GoldenTensors, recorded: Recording, check: Compare): void {
  const schedule = makeSchedule(plan);
  let call = 0;
  let encoding = 0;
  for (let chunk = 0; recorded.get(`${chunk}/start/vision/latents`); chunk++) {
    for (let i = 0; i <= (plan.transfer?.hints.length ?? -1); i++)
      checkEncoded(golden, `encoded/${twoDigits(encoding++)}`, recorded, `${chunk}/encoded/${i}`, check);
    for (let step = 0; step < plan.steps; step++)
      for (const branch of ['cond', 'no-control', 'uncond'] as const) {
        const velocity = recorded.get(`${chunk}/${step}/${branch}/vision/velocity`);
        if (!velocity) continue;
        const at = `call${twoDigits(call++)}`;
        const tokens = (branch === 'uncond' ? plan.negativePrompt : plan.prompt)?.tokens ?? [];
        const before = recorded.get(
          step === 0 ? `${chunk}/start/vision/latents` : `${chunk}/${step - 1}/vision/latents`,
        );
        check('ids', `${at}/input_ids`, tokens);
        check(
          'positions',
          `${at}/position_ids`,
          wholePositions(tokens.length, recorded.get(`${chunk}/${branch}/positions`)),
        );
        check('schedule', `${at}/timestep`, [schedule.timesteps[step] ?? Number.NaN]);
        check('latents', `${at}/latents`, before);
        check('velocity', `${at}/velocity`, velocity);
      }
  }
}

/** The engine encodes only what is kept; it is compared with that part of the reference's encoding. */
function checkEncoded(golden: GoldenTensors, key: string, recorded: Recording, ours: string, check: Compare): void {
  const mine = recorded.values.get(ours);
  const theirs = golden.get(key);
  if (!mine || !theirs) return;
  const part = frontIndexes(theirs, mine.shape).map((at) => theirs.values[at] as number);
  check('encoded', key, mine.values, part);
}

/** Indexes in `[1, C, T, H, W]` of its front part `[c, t, h, w]`, in that part's order. */
function frontIndexes({ shape }: GoldenTensor, [c = 0, t = 0, h = 0, w = 0]: readonly number[]): number[] {
  const [, , frames = 0, rows = 0, columns = 0] = shape;
  const indexes: number[] = [];
  for (let i = 0; i < c; i++)
    for (let j = 0; j < t; j++)
      for (let k = 0; k < h; k++) for (let l = 0; l < w; l++) indexes.push(((i * frames + j) * rows + k) * columns + l);
  return indexes;
}
