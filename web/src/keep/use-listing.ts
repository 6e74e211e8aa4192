// The listing of a filter, kept current by the events of the page.
import { useEffect, useMemo } from 'preact/hooks';
import { OrreryClientError } from '../../../src/protocol/index.js';
import { useStore } from '../store/store-context.js';
import type { Store } from '../store/types.js';
import { favouriteSource } from './favourite-source.js';
import { addressOf, type GalleryFilter, listQueryOf } from './gallery-filter.js';
import { createListing, type Listing, type PageSource } from './listing.js';

/** Jobs of the first page, which is asked for again after changes, and of the others: the most that the server gives. */
const firstPage = 60;
const furtherPage = 200;

/** Changes come in bursts; the first page is asked for once after them. */
const settleMs = 400;

/** The jobs that a filter finds. Another filter is another listing. */
export function useListing(filter: GalleryFilter): Listing {
  const store = useStore();
  const identity = JSON.stringify(addressOf(filter));
  const listing = useMemo(() => createListing(sourceOf(store, filter)), [store, identity]);
  useEffect(() => () => listing.close(), [listing]);
  useEffect(() => followChanges(store, listing), [store, listing]);
  return listing;
}

function sourceOf(store: Store, filter: GalleryFilter): PageSource {
  if (filter.favourites) {
    return favouriteSource([...store.settings.favourites.peek()], filter, (id, signal) => findJob(store, id, signal));
  }
  const query = listQueryOf(filter);
  return (after, signal) =>
    store.client.jobs(
      { ...query, ...(after === undefined ? { limit: firstPage } : { limit: furtherPage, after }) },
      signal,
    );
}

/** A job by its id; undefined where it was deleted. */
async function findJob({ client }: Store, id: string, signal: AbortSignal) {
  try {
    return await client.job(id, signal);
  } catch (error) {
    if (error instanceof OrreryClientError && error.status === 404) return undefined;
    throw error;
  }
}

function followChanges(store: Store, listing: Listing): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const refreshSoon = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      void listing.refresh();
    }, settleMs);
  };
  const stopEvents = store.onEvent(({ event, data }) => {
    if (event === 'deleted') listing.drop(data.job_id);
    else if (event === 'status') refreshSoon();
  });
  let seen = store.resyncs.peek();
  const stopResyncs = store.resyncs.subscribe((count) => {
    if (count !== seen) refreshSoon();
    seen = count;
  });
  return () => {
    clearTimeout(timer);
    stopEvents();
    stopResyncs();
  };
}
