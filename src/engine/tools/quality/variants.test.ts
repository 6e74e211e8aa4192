import { describe, expect, it } from 'vitest';
import { chooseVariants, variants } from './variants.js';

const namesOf = (chosen: readonly { readonly name: string }[]) => chosen.map(({ name }) => name);

describe('chooseVariants', () => {
  it('gives every variant of the precisions that are to be had', () => {
    expect(namesOf(chooseVariants(['f32']))).toEqual([
      'f32',
      'f32-skip-3-5-7-hold',
      'f32-skip-3-5-7-extrapolate',
      'f32-skip-2-4-6-8-hold',
      'f32-skip-2-4-6-8-extrapolate',
    ]);
    expect(chooseVariants(['f32', 'bf16', 'fp8', 'fp8-wide'])).toEqual(variants);
  });

  it('gives those that are named, in its own order', () => {
    expect(namesOf(chooseVariants(['bf16', 'fp8'], ['fp8', 'bf16-decode']))).toEqual(['bf16-decode', 'fp8']);
  });

  it('says what there is where a name is none, and where its precision is not to be had', () => {
    expect(() => chooseVariants(['bf16'], ['fp16'])).toThrow('variant fp16 is unknown; there are: bf16, bf16-decode');
    expect(() => chooseVariants(['f32'], ['fp8'])).toThrow(
      'variant fp8 is not measured here: this run computes in f32',
    );
  });

  it('names each once', () => {
    expect(new Set(namesOf(variants)).size).toBe(variants.length);
  });
});
