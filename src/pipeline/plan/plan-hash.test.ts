import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { planOf } from '../../../test/pipeline/plan-facts.js';
import { hashJson, planHash } from './plan-hash.js';

const sha = (text: string) => createHash('sha256').update(text).digest('hex');

describe('planHash', () => {
  it('is that of the canonical JSON', () => {
    expect(hashJson({ b: [1, { d: null, c: 'é' }], a: 0.5 })).toBe(sha('{"a":0.5,"b":[1,{"c":"é","d":null}]}'));
  });

  it('does not depend on the order of fields, but on every answer', () => {
    const planned = planOf({ seed: 1 });
    const shuffled = Object.fromEntries(Object.entries(planned).reverse());
    expect(hashJson(shuffled)).toBe(planHash(planned));
    expect(planHash(planOf({ seed: 1 }))).toBe(planHash(planned));
    expect(planHash(planOf({ seed: 2 }))).not.toBe(planHash(planned));
    expect(planHash(planOf({ seed: 1, prompt: 'A dog.' }))).not.toBe(planHash(planned));
  });
});
