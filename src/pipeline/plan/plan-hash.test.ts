import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { inputFacts, planOf } from '../../../test/pipeline/plan-facts.js';
import { hashJson, planHash, redactPlan } from './plan-hash.js';

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

describe('redactPlan', () => {
  it('hides the words and keeps the rest', () => {
    const planned = planOf(
      { prompt: 'a secret place', negativePrompt: 'a hidden thing' },
      { image: inputFacts(64, 64) },
    );
    const redacted = redactPlan(planned);
    const log = JSON.stringify(redacted);
    expect(log).not.toContain('secret');
    expect(log).not.toContain('hidden');
    expect(redacted.prompt).toEqual({
      sha256: sha(planned.prompt.text),
      characters: planned.prompt.text.length,
      tokens: planned.prompt.tokens.length,
      truncated: false,
    });
    expect(redacted.negativePrompt?.tokens).toBe(planned.negativePrompt?.tokens.length);
    expect(redacted).toMatchObject({ task: 'image-to-video', canvas: planned.canvas, inputs: planned.inputs });
    expect(redactPlan(planOf({ guidance: 1 })).negativePrompt).toBeNull();
  });
});
