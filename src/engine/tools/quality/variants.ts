// What is held against float32: the precisions, and in each of them the skipped steps.
import type { Quantization } from '../../../models/cosmos3-transformer/index.js';
import type { Plan } from '../../../pipeline/plan-types.js';
import { RequestError } from '../../../protocol/index.js';

/** How the transformer computes; the autoencoder follows, but never in eight bits. */
export type Precision = 'f32' | 'bf16' | 'fp8' | 'fp8-wide';
export const precisions: readonly Precision[] = ['f32', 'bf16', 'fp8', 'fp8-wide'];

/** Linear layers in eight bits; `fp8-wide` leaves the activations of the first and the last step in 16 bits. */
export const quantizations: Readonly<Record<Precision, Quantization | null>> = {
  f32: null,
  bf16: null,
  fp8: { format: 'fp8' },
  'fp8-wide': { format: 'fp8', wideFirstSteps: 1, wideLastSteps: 1 },
};

export interface Variant {
  readonly name: string;
  readonly precision: Precision;
  /** `decode`: the reference's latents through this precision's autoencoder alone. */
  readonly part: 'clip' | 'decode';
  readonly skip: Plan['skip'] | null;
}

const skips: readonly Plan['skip'][] = [
  [3, 5, 7],
  [2, 4, 6, 8],
].flatMap((steps) => [
  { steps, mode: 'hold' as const },
  { steps, mode: 'extrapolate' as const },
]);

/** The name of a precision with steps skipped: `fp8-skip-3-5-7-hold`. */
export function skipName(precision: Precision, { steps, mode }: Plan['skip']): string {
  return `${precision}-skip-${steps.join('-')}-${mode}`;
}

const skipsOf = (precision: Precision): Variant[] =>
  skips.map((skip) => ({ name: skipName(precision, skip), precision, part: 'clip', skip }));

const clipOf = (precision: Precision): Variant => ({ name: precision, precision, part: 'clip', skip: null });

/** All of them, in the order they are measured. */
export const variants: readonly Variant[] = [
  clipOf('f32'),
  ...skipsOf('f32'),
  clipOf('bf16'),
  { name: 'bf16-decode', precision: 'bf16', part: 'decode', skip: null },
  ...skipsOf('bf16'),
  clipOf('fp8'),
  ...skipsOf('fp8'),
  clipOf('fp8-wide'),
];

/**
 * The variants of some precisions, or those of them that are named.
 * @throws RequestError for a name that is none, and for one whose precision is not to be had
 */
export function chooseVariants(available: readonly Precision[], names?: readonly string[]): readonly Variant[] {
  const can = variants.filter(({ precision }) => available.includes(precision));
  if (names === undefined) return can;
  for (const name of names) {
    if (can.some((variant) => variant.name === name)) continue;
    const known = variants.some((variant) => variant.name === name);
    const reason = known
      ? `is not measured here: this run computes in ${available.join(', ')} (a GPU adds bf16 and fp8, --reference cuda or the CPU f32)`
      : 'is unknown';
    throw new RequestError(
      'invalid_value',
      'only',
      `variant ${name} ${reason}; there are: ${can.map((variant) => variant.name).join(', ')}`,
    );
  }
  return can.filter(({ name }) => names.includes(name));
}
