// Favourites as pages: this browser knows their ids, the server what they are.
import type { Job } from '../../../src/protocol/index.js';
import { type GalleryFilter, matchesFilter } from './gallery-filter.js';
import type { PageSource } from './listing.js';

/** How many are looked up at a time. */
const atOnce = 6;

/**
 * The favourites that the filter asks for, newest first, as one page.
 * @param find looks a job up; undefined where it is gone
 */
export function favouriteSource(
  ids: readonly string[],
  filter: GalleryFilter,
  find: (id: string, signal: AbortSignal) => Promise<Job | undefined>,
): PageSource {
  return async (_after, signal) => {
    const found: Job[] = [];
    const waiting = [...ids];
    const work = async () => {
      for (let id = waiting.pop(); id !== undefined && !signal.aborted; id = waiting.pop()) {
        const job = await find(id, signal);
        if (job !== undefined && matchesFilter(job, filter)) found.push(job);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    found.sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? 1 : -1));
    return { data: found, has_more: false, total: found.length };
  };
}
