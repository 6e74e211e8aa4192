// Which files a job makes, by its plan.
import { computedControls, type Plan } from '../../engine/index.js';
import type { JobOutput } from '../../engine/jobs/types.js';

/** Files of a video job: the clip first, then what lies beside it. */
export function videoOutputs(plan: Plan): readonly JobOutput[] {
  const { action, sound } = plan;
  const actions: readonly JobOutput[] = action === null ? [] : [{ variant: 'action', kind: 'json' }];
  if (action?.decodeVideo === false) return actions;
  return [
    { variant: 'video', kind: 'mp4' },
    ...(sound === null ? [] : [{ variant: 'sound', kind: 'wav' } as const]),
    ...actions,
    ...computedControls(plan).map((kind) => ({ variant: `control_${kind}`, kind: 'mp4' }) as const),
    { variant: 'latents', kind: 'safetensors' },
    { variant: 'thumbnail', kind: 'webp' },
  ];
}

/** The file that a caller on the line waits for. */
export function syncVideoOutputs(plan: Plan): readonly JobOutput[] {
  return plan.action?.decodeVideo === false
    ? [{ variant: 'action', kind: 'json' }]
    : [{ variant: 'video', kind: 'mp4' }];
}

/** A picture, and a small one for lists. */
export function imageOutputs(kind: 'png' | 'jpeg' | 'webp'): readonly JobOutput[] {
  return [
    { variant: 'image', kind },
    { variant: 'thumbnail', kind: 'webp' },
  ];
}

/** A picture that its caller takes away. */
export function syncImageOutputs(kind: 'png' | 'jpeg' | 'webp'): readonly JobOutput[] {
  return [{ variant: 'image', kind }];
}
