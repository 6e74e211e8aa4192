// Writes what a run starts from, and each denoise step, into a recorder, in the order and with the zeroes that references have.
import { type Backend, type Tensor, uploadFloats } from '../../backend/index.js';
import type { Positions } from '../../models/cosmos3-transformer/index.js';
import type { ItemLayout } from '../conditioning/sequence.js';
import { downloadFloats } from '../conditioning/vision-source.js';
import type { DenoiseStep } from './denoise.js';
import type { Recorder } from './recorder.js';
import { channelsFirst, channelsLast, type Target } from './targets.js';

export interface RecordedStep {
  readonly chunk: number;
  readonly targets: readonly Target[];
  readonly done: DenoiseStep;
}

export async function recordStep(
  b: Backend,
  recorder: Recorder,
  { chunk, targets, done }: RecordedStep,
): Promise<void> {
  for (const [i, target] of targets.entries()) {
    const place = `${chunk}/${done.step}`;
    const { kind } = target.item;
    for (const [branch, velocities] of done.velocities) {
      const { shape, values } = await hostOrder(b, target, velocities[i] as Tensor, true);
      recorder.record(`${place}/${branch}/${kind}/velocity`, shape, values);
    }
    const sample = done.samples[i] as Tensor;
    const { shape, values } = await hostOrder(b, target, sample, false);
    recorder.record(`${place}/${kind}/latents`, shape, values);
    const instead = recorder.replace?.(`${place}/${kind}/latents`);
    if (instead) replaceSample(b, sample, kind === 'action' ? instead : channelsLast(instead, shape[0] ?? 1));
  }
}

function replaceSample(b: Backend, sample: Tensor, values: Float32Array): void {
  b.scope(() => {
    b.write(sample, uploadFloats(b, values, sample.shape));
    return null;
  });
}

/** Records the positions of each branch, `[3, S]` (t, h, w; the text apart), and the initial latents. */
export function recordStart(
  recorder: Recorder,
  chunk: number,
  { targets, positions }: { readonly targets: readonly Target[]; readonly positions: ReadonlyMap<string, Positions> },
  latents: readonly Float32Array[],
): void {
  for (const [branch, { t, h, w }] of positions)
    recorder.record(`${chunk}/${branch}/positions`, [3, t.length], Float32Array.from([...t, ...h, ...w]));
  for (const [i, { item }] of targets.entries()) {
    const { shape, values } = referenceOrder(item, item.shape, latents[i] as Float32Array);
    recorder.record(`${chunk}/start/${item.kind}/latents`, shape, values);
  }
}

async function hostOrder(b: Backend, { item, cleanFrames }: Target, tensor: Tensor, isVelocity: boolean) {
  const { shape, data } = await downloadFloats(b, tensor);
  const perFrame = data.length / (shape[0] ?? 1);
  if (isVelocity) for (const frame of cleanFrames) data.fill(0, frame * perFrame, (frame + 1) * perFrame);
  return referenceOrder(item, shape, data);
}

function referenceOrder({ kind }: ItemLayout, shape: readonly number[], data: Float32Array) {
  if (kind === 'action') return { shape, values: data };
  const channels = shape.at(-1) ?? 1;
  return { shape: [channels, ...shape.slice(0, -1)], values: channelsFirst(data, channels) };
}
