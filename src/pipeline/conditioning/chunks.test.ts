import { describe, expect, it } from 'vitest';
import type { Plan } from '../plan-types.js';
import { chunkFrameIndexes, planChunks, wholeFrames } from './chunks.js';

/** Only what `planChunks` reads. */
function planOf(frames: number, transfer: Partial<NonNullable<Plan['transfer']>> | null): Plan {
  return { frames, transfer } as Plan;
}

describe('planChunks', () => {
  it('is one chunk of whole latent frames outside transfer', () => {
    expect(planChunks(planOf(16, null), 4)).toEqual([{ index: 0, start: 0, frames: 17, overlap: 0, adds: 16 }]);
  });

  it('overlaps chunks of a transfer and cuts the last', () => {
    const transfer = { chunkFrames: 9, totalFrames: 13, conditionalFrames: 1 };
    expect(planChunks(planOf(13, transfer), 4)).toEqual([
      { index: 0, start: 0, frames: 9, overlap: 0, adds: 9 },
      { index: 1, start: 8, frames: 9, overlap: 1, adds: 4 },
    ]);
  });

  it('makes [2, 1] overlaps add up to eight frames', () => {
    const transfer = { chunkFrames: 5, totalFrames: 8, conditionalFrames: 2 };
    expect(planChunks(planOf(8, transfer), 4).map(({ adds }) => adds)).toEqual([5, 3]);
  });
});

describe('wholeFrames', () => {
  it('rounds up to 4n + 1', () => {
    expect([1, 2, 5, 6, 189].map((frames) => wholeFrames(frames, 4))).toEqual([1, 5, 5, 9, 189]);
  });
});

describe('chunkFrameIndexes', () => {
  it('goes on backwards behind the end of the source', () => {
    expect(chunkFrameIndexes({ start: 2, frames: 5 }, 4)).toEqual([2, 3, 3, 2, 1]);
  });
});
