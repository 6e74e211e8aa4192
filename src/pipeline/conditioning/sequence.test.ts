import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseTransformerConfig } from '../../models/cosmos3-transformer/index.js';
import { openCheckpoint } from '../../weights/index.js';
import { itemRows, noisyRows, sequencePositions, weightedRoutes } from './sequence.js';

const config = parseTransformerConfig(
  openCheckpoint(join(import.meta.dirname, '../../../test/golden/data/tiny-nano')).part('transformer').config,
  'config.json',
);
const vision = (frames: number) => ({ kind: 'vision', shape: [frames, 2, 4, 8], fps: 24 }) as const;

describe('sequencePositions', () => {
  it('starts all items at the same time when they share temporal positions', () => {
    const { t } = sequencePositions([vision(3), vision(3)], config, { textTokens: 10, shareTemporalPositions: true });
    expect([...t]).toEqual([15010, 15010, 15011, 15011, 15012, 15012, 15010, 15010, 15011, 15011, 15012, 15012]);
  });

  it('lets vision items follow each other otherwise', () => {
    const { t } = sequencePositions([vision(2), vision(2)], config, { textTokens: 0, shareTemporalPositions: false });
    expect([...t]).toEqual([15000, 15000, 15001, 15001, 15002, 15002, 15003, 15003]);
  });

  it('counts rows and columns of patches', () => {
    const { h, w } = sequencePositions([{ kind: 'vision', shape: [1, 4, 3, 8], fps: 24 }], config, {
      textTokens: 0,
      shareTemporalPositions: true,
    });
    expect([[...h], [...w]]).toEqual([
      [0, 0, 1, 1],
      [0, 1, 0, 1],
    ]);
  });

  it('places actions by their own rate and offset, sound by its 25 latents a second', () => {
    const options = { textTokens: 0, shareTemporalPositions: true };
    const action = sequencePositions([{ kind: 'action', shape: [3, 32], fps: 12, offset: 1 }], config, options);
    expect([...action.t]).toEqual([15000.5, 15001, 15001.5]);
    const sound = sequencePositions([{ kind: 'sound', shape: [3, 8] }], config, options);
    expect([...sound.t].map((x) => x - 15000)).toEqual([0, 0.9599609375, 1.919921875]);
  });
});

describe('noisyRows', () => {
  it('is zero on the rows of clean frames', () => {
    expect(itemRows(vision(3), 2)).toBe(6);
    expect([...noisyRows(vision(3), 2, [0, 2])]).toEqual([0, 0, 1, 1, 0, 0]);
  });
});

describe('weightedRoutes', () => {
  it('lets each control see itself and the target, and mixes what the target sees by normalised weights', () => {
    expect(weightedRoutes([4, 4], 12, [1, 3])).toEqual([
      {
        queries: [0, 4],
        keys: [
          [0, 4],
          [8, 12],
        ],
        weight: 1,
      },
      {
        queries: [4, 8],
        keys: [
          [4, 8],
          [8, 12],
        ],
        weight: 1,
      },
      {
        queries: [8, 12],
        keys: [
          [0, 4],
          [8, 12],
        ],
        weight: 0.25,
      },
      {
        queries: [8, 12],
        keys: [
          [4, 8],
          [8, 12],
        ],
        weight: 0.75,
      },
    ]);
  });
});
