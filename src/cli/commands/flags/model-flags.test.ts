import { expect, it } from 'vitest';
import { readExclusions } from './model-flags.js';

it('reads what stays out of eight bits where they are the default', () => {
  expect(readExclusions({})).toBeUndefined();
  expect(readExclusions({ quantizationExclude: ['0,und', 'down'], quantizationWideSteps: '1,2' })).toMatchObject({
    excludeLayers: [0],
    excludeTowers: ['und'],
    excludeProjections: ['down'],
    wideFirstSteps: 1,
    wideLastSteps: 2,
  });
  expect(readExclusions({ keepWide: true, quantizationWideSteps: '1,0' })).not.toHaveProperty('format');
  expect(() => readExclusions({ quantizationExclude: ['norms'] })).toThrow('norms');
});
