import { describe, expect, it } from 'vitest';
import {
  descriptionOf,
  extraParams,
  flagOf,
  generationFields,
  knownNames,
  nearestName,
  structuredParams,
} from './index.js';

describe('parameters', () => {
  const all = { ...generationFields, ...extraParams, ...structuredParams };

  it('are each described, in words that fit a help line', () => {
    for (const [name, schema] of Object.entries(all)) {
      const length = descriptionOf(schema).length;
      expect(length, name).toBeGreaterThan(10);
      expect(length, name).toBeLessThanOrEqual(120);
    }
  });

  it('have flags of their own', () => {
    const flags = Object.values(all).flatMap((schema) => flagOf(schema)?.flag ?? []);
    expect(new Set(flags).size).toBe(flags.length);
    expect(flags).toContain('num-inference-steps');
    expect(flags).toContain('sound');
  });

  it('state no defaults', () => {
    expect(JSON.stringify(all)).not.toContain('"default"');
  });
});

describe('nearestName', () => {
  it.each([
    ['flow_shfit', 'flow_shift'],
    ['Guidance-Scale', 'guidance_scale'],
    ['num_frame', 'num_frames'],
    ['use_duration_templat', 'use_duration_template'],
    ['zzzzzzzz', undefined],
    ['', undefined],
  ])('%s -> %s', (name, expected) => {
    expect(nearestName(name, knownNames)).toBe(expected);
  });
});
