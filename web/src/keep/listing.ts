// The jobs of the gallery: pages of the server's listing, fetched as far as they are looked at.
import { batch, type ReadonlySignal, signal } from '@preact/signals';
import type { Job } from '../../../src/protocol/index.js';

/** A page as a source gives it. */
export interface ListedPage {
  readonly data: readonly Job[];
  readonly has_more: boolean;
  readonly total: number;
}

/** Gives the jobs behind `after`, or the first ones. */
export type PageSource = (after: string | undefined, signal: AbortSignal) => Promise<ListedPage>;

/** Jobs in the order of the listing. */
export interface Listing {
  /** As far as they are known. */
  readonly jobs: ReadonlySignal<readonly Job[]>;
  /** Of all, the unknown ones included. */
  readonly total: ReadonlySignal<number>;
  readonly isLoading: ReadonlySignal<boolean>;
  /** What the last page failed with; null after one that came. */
  readonly error: ReadonlySignal<unknown>;
  /** Fetches pages until `count` jobs are known, or all. */
  reach(count: number): void;
  /** Fetches the first page again and keeps what lies behind it. */
  refresh(): Promise<void>;
  replace(job: Job): void;
  drop(id: string): void;
  /** Stops what is under way; nothing is fetched after it. */
  close(): void;
}

/** Makes a listing; its first page is on its way at once. */
export function createListing(source: PageSource): Listing {
  const jobs = signal<readonly Job[]>([]);
  const total = signal(0);
  const isLoading = signal(false);
  const error = signal<unknown>(null);
  const abort = new AbortController();
  let hasMore = true;
  let wanted = 1;
  let running: Promise<void> | null = null;

  const take = (next: readonly Job[], page: ListedPage, more: boolean) =>
    batch(() => {
      jobs.value = next;
      hasMore = more && page.data.length > 0;
      total.value = hasMore ? Math.max(page.total, next.length) : next.length;
    });
  const isMissing = () => hasMore && jobs.value.length < wanted && !abort.signal.aborted;
  /** One question at a time: a page begins where the one before it ended. */
  const work = async (ask: () => Promise<void>) => {
    while (running !== null) await running;
    if (abort.signal.aborted) return;
    isLoading.value = true;
    running = ask()
      .then(() => {
        error.value = null;
      })
      .catch((reason: unknown) => {
        if (abort.signal.aborted) return;
        error.value = reason;
        wanted = jobs.value.length;
      })
      .finally(() => {
        running = null;
        isLoading.value = false;
      });
    await running;
  };
  const next = async () => {
    const page = await source(jobs.value.at(-1)?.id, abort.signal);
    const known = new Set(jobs.value.map(({ id }) => id));
    take([...jobs.value, ...page.data.filter(({ id }) => !known.has(id))], page, page.has_more);
  };
  const fill = async () => {
    while (isMissing()) await work(() => (isMissing() ? next() : Promise.resolve()));
  };
  void fill();

  return {
    jobs,
    total,
    isLoading,
    error,
    reach: (count) => {
      if (count <= wanted) return;
      wanted = count;
      void fill();
    },
    refresh: () =>
      work(async () => {
        const page = await source(undefined, abort.signal);
        const merged = mergeFirstPage(jobs.value, page);
        take(merged.jobs, page, merged.keptTail ? hasMore : page.has_more);
      }).then(fill),
    replace: (job) => {
      if (jobs.value.some(({ id }) => id === job.id)) {
        jobs.value = jobs.value.map((known) => (known.id === job.id ? job : known));
      }
    },
    drop: (id) => {
      const kept = jobs.value.filter((known) => known.id !== id);
      if (kept.length === jobs.value.length) return;
      batch(() => {
        jobs.value = kept;
        total.value = Math.max(kept.length, total.value - 1);
      });
    },
    close: () => abort.abort(),
  };
}

/** The first page again, in front of what was known behind its last job. */
export function mergeFirstPage(
  known: readonly Job[],
  page: ListedPage,
): { readonly jobs: readonly Job[]; readonly keptTail: boolean } {
  const last = page.data.at(-1);
  const seam = last === undefined || !page.has_more ? -1 : known.findIndex(({ id }) => id === last.id);
  if (seam < 0) return { jobs: page.data, keptTail: false };
  const listed = new Set(page.data.map(({ id }) => id));
  return { jobs: [...page.data, ...known.slice(seam + 1).filter(({ id }) => !listed.has(id))], keptTail: true };
}
