// What the gallery is searched by: between the page's address, the server's listing and a job at hand.
import type { Job } from '../../../src/protocol/index.js';

/** What a person looks for; empty members ask for nothing. */
export interface GalleryFilter {
  /** All of the words have to be in the prompt. */
  readonly words: string;
  readonly task: string;
  readonly status: string;
  /** First and last day, as 2026-12-01, in the time zone of the page. */
  readonly from: string;
  readonly to: string;
  readonly favourites: boolean;
}

export const noFilter: GalleryFilter = { words: '', task: '', status: '', from: '', to: '', favourites: false };

/** What the server's listing takes. */
export interface ListQuery {
  readonly q?: string;
  readonly task?: string;
  readonly status?: string;
  readonly created_after?: number;
  readonly created_before?: number;
}

/** The filter of an address. */
export function filterOf(query: Readonly<Record<string, string>>): GalleryFilter {
  const { q = '', task = '', status = '', from = '', to = '', favourites = '' } = query;
  return {
    words: q,
    task,
    status,
    from: isDay(from) ? from : '',
    to: isDay(to) ? to : '',
    favourites: favourites === '1',
  };
}

/** The address of a filter: what is asked for alone. */
export function addressOf({
  words,
  task,
  status,
  from,
  to,
  favourites,
}: GalleryFilter): Readonly<Record<string, string>> {
  const all = { q: words, task, status, from, to, favourites: favourites ? '1' : '' };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
}

/** The filter in the listing's words. Favourites are known to this browser alone, so they are not among them. */
export function listQueryOf({ words, task, status, from, to }: GalleryFilter): ListQuery {
  return {
    ...(words.trim() === '' ? {} : { q: words.trim() }),
    ...(task === '' ? {} : { task }),
    ...(status === '' ? {} : { status }),
    ...(from === '' ? {} : { created_after: startOfDay(from) }),
    ...(to === '' ? {} : { created_before: startOfDay(to, 1) }),
  };
}

/** Whether the job is what the filter asks for, judged as the server does. */
export function matchesFilter(
  job: Pick<Job, 'prompt' | 'task' | 'status' | 'created_at'>,
  filter: Omit<GalleryFilter, 'favourites'>,
): boolean {
  const prompt = job.prompt.toLowerCase();
  const words = filter.words
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const { created_after: after, created_before: before } = listQueryOf({ ...filter, favourites: false });
  return (
    words.every((word) => prompt.includes(word)) &&
    (filter.task === '' || filter.task === job.task) &&
    (filter.status === '' || filter.status === job.status) &&
    (after === undefined || job.created_at >= after) &&
    (before === undefined || job.created_at < before)
  );
}

/** Unix seconds at which the day begins here; `later` days after it. */
export function startOfDay(day: string, later = 0): number {
  const [year = 1970, month = 1, date = 1] = day.split('-').map(Number);
  return Math.floor(new Date(year, month - 1, date + later).getTime() / 1000);
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(startOfDay(text));
}
