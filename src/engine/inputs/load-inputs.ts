// Decodes what a plan needs of its inputs, and no more.
import type { RgbClip } from '../../media/index.js';
import type { PlanInputs } from '../../pipeline/inputs.js';
import type { Plan } from '../../pipeline/plan-types.js';
import type { HintKind } from '../../pipeline/request.js';
import { blameInput } from './input-error.js';
import type { FrameRange } from './opened-input.js';
import type { ProbedInputs } from './probe.js';

/**
 * Decodes the inputs of a plan: for a transfer the frames of its length, else those that condition it, from the end the plan names.
 * @throws RequestError when an input turns out to be damaged
 */
export async function loadInputs(plan: Plan, probed: ProbedInputs): Promise<PlanInputs> {
  const video = videoRange(plan);
  const controls = new Map<HintKind, RgbClip>();
  const range: FrameRange = { count: plan.transfer?.totalFrames ?? 1, keep: 'first' };
  for (const { kind, computed } of plan.transfer?.hints ?? []) {
    const input = probed.controls.get(kind);
    if (!computed && input !== undefined) controls.set(kind, await blameInput(kind, () => input.decode(range)));
  }
  const usesImage = plan.condition?.source === 'image';
  const { image, video: clip } = probed;
  return {
    image:
      image !== null && usesImage ? await blameInput('image', () => image.decode({ count: 1, keep: 'first' })) : null,
    video: clip !== null && video !== null ? await blameInput('video', () => clip.decode(video)) : null,
    controls,
  };
}

/** Which frames of the input clip a plan reads; null for none. */
export function videoRange({ condition, transfer }: Plan): FrameRange | null {
  if (condition?.source === 'video') return { count: condition.pixelFrames, keep: condition.keep };
  if (transfer === null) return null;
  const reads = transfer.showInput || transfer.hints.some(({ computed }) => computed);
  const count = Math.max(reads ? transfer.totalFrames : 0, transfer.firstChunkConditionalFrames);
  return count === 0 ? null : { count, keep: 'first' };
}
