import { describe, expect, it } from 'vitest';
import { readRequest } from './read-request.js';
import { readStepCache } from './read-step-cache.js';

describe('readStepCache', () => {
  it('takes a word, in either spelling', () => {
    expect(readStepCache('teacache', {})).toEqual({ stepCache: { kind: 'teacache' } });
    expect(readStepCache('sea_cache', {})).toEqual({ stepCache: { kind: 'seacache' } });
    expect(readStepCache('none', {})).toEqual({});
    expect(readStepCache(undefined, {})).toEqual({});
    expect(readStepCache({ kind: 'none' }, {})).toEqual({});
  });

  it('takes an object with the names of either tool, as text too', () => {
    const object = { kind: 'tea_cache', rel_l1_thresh: 0.2, num_warmup_steps: 12, coefficients: [1, 0] };
    const read = {
      stepCache: { kind: 'teacache', threshold: 0.2, warmupSteps: 12, coefficients: [1, 0] },
    };
    expect(readStepCache(object, {})).toEqual(read);
    expect(readStepCache(JSON.stringify(object), {})).toEqual(read);
    expect(
      readStepCache(
        { kind: 'seacache', threshold: 0.25, residual_order: 1, max_consecutive_cached: 2, power_exp: 3 },
        {},
      ),
    ).toEqual({
      stepCache: { kind: 'seacache', threshold: 0.25, maxConsecutive: 2, power: 3 },
      skipMode: 'extrapolate',
    });
  });

  it('takes settings given beside it, which the object overrules', () => {
    const fields = { threshold: 0.3, warmupSteps: 4 };
    expect(readStepCache('teacache', fields).stepCache).toEqual({ kind: 'teacache', ...fields });
    expect(readStepCache({ kind: 'teacache', threshold: 0.1 }, fields).stepCache).toMatchObject({
      threshold: 0.1,
      warmupSteps: 4,
    });
  });

  it.each([
    ['mag_cache', {}, 'step_cache must be teacache, seacache or none'],
    ['constructor', {}, 'step_cache must be teacache, seacache or none'],
    [4, {}, 'step_cache must be teacache, seacache or none'],
    [{ threshold: 0.1 }, {}, 'step_cache must be teacache, seacache or none'],
    ['{"kind"', {}, 'step_cache is not valid JSON'],
    [{ kind: 'teacache', treshold: 1 }, {}, 'step_cache.treshold is unknown; did you mean threshold?'],
    [{ kind: 'teacache', threshold: 'x' }, {}, 'step_cache.threshold must be a number, got "x"'],
    [{ kind: 'teacache', coefficients: ['1'] }, {}, 'step_cache.coefficients must be a list of numbers'],
    [{ kind: 'seacache', residual_order: 2 }, {}, 'step_cache.residual_order is 2'],
    [undefined, { warmupSteps: 3 }, 'step_cache_warmup is given, but no step cache'],
  ])('refuses %j', (value, fields, message) => {
    expect(() => readStepCache(value, fields)).toThrow(message);
  });
});

it('a request takes it with its extra parameters', () => {
  const { request } = readRequest({
    fields: { prompt: 'x' },
    extra: { step_cache: 'seacache', step_cache_threshold: '0.3', guidance_cache_every: 2 },
  });
  expect(request).toMatchObject({ stepCache: { kind: 'seacache', threshold: 0.3 }, guidanceEvery: 2 });
});
