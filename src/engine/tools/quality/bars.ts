// What each variant has to reach against float32, as the mean over prompts, for the bundled checkpoint at the standard job.
import type { Tally } from './measures.js';
import { type Precision, skipName, type Variant } from './variants.js';

export interface Bar {
  readonly variant: string;
  readonly measure: string;
  readonly value: number;
  readonly sense: '>=' | '>' | '<' | '<=';
  readonly limit: number;
  readonly passed: boolean;
}

/** How far a float32 device may be from the CPU's float32, relative L2 of a velocity. */
const referenceLimit = 1e-4;

/** Mean frame PSNR in dB, final latent cosine, and velocity cosine of the worst step. */
const precisionLimits: {
  readonly [precision in Precision]?: readonly [psnr: number, latent: number, velocity: number];
} = { bf16: [41.4, 0.9989, 0.999], fp8: [34.2, 0.986, 0.99] };

/** With steps 3, 5 and 7 held. */
const heldLimits = { steps: '3,5,7', cosine: 0.981, relativeL2: 0.194 };

const holds: Readonly<Record<Bar['sense'], (value: number, limit: number) => boolean>> = {
  '>=': (value, limit) => value >= limit,
  '>': (value, limit) => value > limit,
  '<': (value, limit) => value < limit,
  '<=': (value, limit) => value <= limit,
};

function bar(variant: string, measure: string, value: number, sense: Bar['sense'], limit: number): Bar {
  return { variant, measure, value, sense, limit, passed: holds[sense](value, limit) };
}

/** The bars of one variant; none for those that are only reported. `others`: what was measured of all, by name. */
export function barsOf(variant: Variant, others: ReadonlyMap<string, Tally>): Bar[] {
  const { name, precision, part, skip } = variant;
  const own = others.get(name);
  if (own === undefined || part === 'decode') return [];
  const { frameFigures: frames, latentFigures: latents, velocityFigures: velocities } = own;
  if (latents === null) return [];
  if (skip === null) {
    if (precision === 'f32') return [bar(name, 'repeated, latent relative L2', latents.worstRelativeL2, '<=', 0)];
    const limits = precisionLimits[precision];
    if (limits === undefined) return [];
    const [psnr, latent, velocity] = limits;
    return [
      bar(name, 'frame PSNR, dB', frames === null ? Number.NaN : (frames.mean ?? Number.POSITIVE_INFINITY), '>=', psnr),
      bar(name, 'final latent cosine', latents.cosine, '>=', latent),
      bar(name, 'velocity cosine, worst step', velocities?.worstStep ?? Number.NaN, '>=', velocity),
    ];
  }
  if (skip.steps.join() !== heldLimits.steps) return [];
  if (skip.mode === 'hold')
    return [
      bar(name, 'final latent cosine', latents.cosine, '>=', heldLimits.cosine),
      bar(name, 'final latent relative L2', latents.relativeL2, '<', heldLimits.relativeL2),
    ];
  const held = others.get(skipName(precision, { ...skip, mode: 'hold' }))?.latentFigures;
  if (!held) return [];
  return [
    bar(name, 'final latent cosine, against held', latents.cosine, '>', held.cosine),
    bar(name, 'final latent relative L2, against held', latents.relativeL2, '<', held.relativeL2),
  ];
}

/** That a GPU's float32 may stand in for the CPU's. @param distance relative L2 of the worst step's velocity */
export function referenceBar(distance: number): Bar {
  return bar('reference', 'velocity relative L2 to the CPU', distance, '<=', referenceLimit);
}
