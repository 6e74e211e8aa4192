import { describe, expect, it } from 'vitest';
import { favouriteSource } from './favourite-source.js';
import { noFilter } from './gallery-filter.js';
import { sampleJob } from './sample-job.js';

describe('favouriteSource', () => {
  it('finds what is left of them, newest first, a few at a time', async () => {
    let running = 0;
    let most = 0;
    const find = async (id: string) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running -= 1;
      return id === 'gone'
        ? undefined
        : { ...sampleJob(id), created_at: Number(id), prompt: Number(id) % 2 ? 'odd' : 'even' };
    };
    const ids = ['gone', ...Array.from({ length: 20 }, (_, i) => String(i))];
    const page = await favouriteSource(
      ids,
      { ...noFilter, words: 'odd' },
      find,
    )(undefined, new AbortController().signal);
    expect(page.data.map(({ id }) => Number(id))).toEqual([19, 17, 15, 13, 11, 9, 7, 5, 3, 1]);
    expect([page.total, page.has_more, most]).toEqual([10, false, 6]);
  });
});
