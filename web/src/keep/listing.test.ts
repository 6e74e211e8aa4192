import { describe, expect, it } from 'vitest';
import { createListing, type ListedPage, mergeFirstPage, type PageSource } from './listing.js';
import { sampleJob as job } from './sample-job.js';

/** A server with jobs in order, in pages of ten. */
function serve(ids: string[]) {
  const asked: (string | undefined)[] = [];
  const source: PageSource = async (after) => {
    asked.push(after);
    const start = after === undefined ? 0 : ids.indexOf(after) + 1;
    const data = ids.slice(start, start + 10).map(job);
    return { data, has_more: start + 10 < ids.length, total: ids.length };
  };
  return { asked, source };
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 5));
const names = (count: number) => Array.from({ length: count }, (_, i) => `job-${i}`);

describe('createListing', () => {
  it('fetches as far as it is looked at, and knows how many there are', async () => {
    const { asked, source } = serve(names(95));
    const listing = createListing(source);
    await settle();
    expect([listing.jobs.value.length, listing.total.value]).toEqual([10, 95]);
    listing.reach(35);
    listing.reach(32);
    await settle();
    expect(listing.jobs.value.length).toBe(40);
    expect(asked).toEqual([undefined, 'job-9', 'job-19', 'job-29']);
    listing.reach(1000);
    await settle();
    expect(listing.jobs.value.map(({ id }) => id)).toEqual(names(95));
    expect(listing.isLoading.value).toBe(false);
  });

  it('takes new jobs in front, forgets those that are gone, and keeps the rest', async () => {
    const ids = names(30);
    const { source } = serve(ids);
    const listing = createListing(source);
    listing.reach(30);
    await settle();
    ids.unshift('new');
    ids.splice(3, 1);
    await listing.refresh();
    expect(listing.jobs.value.map(({ id }) => id)).toEqual(ids);
    listing.drop('job-20');
    listing.drop('nobody');
    expect([listing.jobs.value.length, listing.total.value]).toEqual([29, 29]);
    listing.replace({ ...job('job-4'), prompt: 'other' });
    expect(listing.jobs.value.find(({ id }) => id === 'job-4')?.prompt).toBe('other');
  });

  it('tells what went wrong, and goes on when asked again', async () => {
    let fails = true;
    const { source } = serve(names(20));
    const listing = createListing((after, signal) =>
      fails && after !== undefined ? Promise.reject(new Error('gone')) : source(after, signal),
    );
    await settle();
    listing.reach(20);
    await settle();
    expect(listing.error.value).toEqual(new Error('gone'));
    fails = false;
    listing.reach(20);
    await settle();
    expect([listing.error.value, listing.jobs.value.length]).toEqual([null, 20]);
  });

  it('asks nothing once it is closed', async () => {
    const { asked, source } = serve(names(50));
    const listing = createListing(source);
    await settle();
    listing.close();
    listing.reach(50);
    await listing.refresh();
    await settle();
    expect(asked.length).toBe(1);
  });

  it('is empty where nothing is found', async () => {
    const listing = createListing(serve([]).source);
    await settle();
    expect([listing.jobs.value.length, listing.total.value, listing.isLoading.value]).toEqual([0, 0, false]);
  });
});

describe('mergeFirstPage', () => {
  const page = (ids: readonly string[], has_more: boolean): ListedPage => ({ data: ids.map(job), has_more, total: 99 });
  it('starts anew where so much is new that there is no seam', () => {
    expect(mergeFirstPage(names(5).map(job), page(['a', 'b'], true))).toMatchObject({ keptTail: false });
    expect(mergeFirstPage(names(5).map(job), page(['job-4'], false)).jobs.map(({ id }) => id)).toEqual(['job-4']);
  });
});
