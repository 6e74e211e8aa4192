// Which jobs a list asks for.
import type { JobStatus, ListQuery } from '../../engine/jobs/types.js';
import { RequestError, showValue } from '../../protocol/index.js';

type Named = Readonly<Record<string, unknown>>;

const statuses: readonly JobStatus[] = ['queued', 'in_progress', 'completed', 'failed', 'cancelled'];
const tasks: readonly string[] = [
  'text-to-image',
  'text-to-video',
  'image-to-video',
  'video-to-video',
  'transfer',
  'policy',
  'forward-dynamics',
  'inverse-dynamics',
];

/** Jobs of a page at most. */
export const pageLimit = 200;

/** Reads the conditions of a list. @throws RequestError naming the one that cannot be read */
export function readJobQuery(query: Named): ListQuery {
  const words = textOf(query, 'q')
    ?.split(/\s+/)
    .filter((word) => word !== '');
  return {
    ...(words === undefined || words.length === 0 ? {} : { words: words.slice(0, 20) }),
    ...optional('tasks', readSeveral(query, 'task', tasks)),
    ...optional('statuses', readSeveral(query, 'status', statuses)),
    ...optional('kind', textOf(query, 'kind')),
    ...optional('createdFrom', readSeconds(query, 'created_after')),
    ...optional('createdBefore', readSeconds(query, 'created_before')),
    ...optional('after', textOf(query, 'after')),
    limit: readLimit(query.limit ?? '50'),
    order: readOrder(query.order ?? 'desc'),
  };
}

function optional<Name extends string, Value>(name: Name, value: Value | undefined): { readonly [K in Name]?: Value } {
  const members: { [K in Name]?: Value } = {};
  if (value !== undefined) members[name] = value;
  return members;
}

function textOf(query: Named, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || value === '') return undefined;
  return typeof value === 'string' ? value : refuse(name, 'a text, once', value);
}

function readSeveral<Word extends string>(query: Named, name: string, known: readonly Word[]): Word[] | undefined {
  return textOf(query, name)
    ?.split(',')
    .map((given) => known.find((word) => word === given.trim()) ?? refuse(name, `of ${known.join(', ')}`, given));
}

function readSeconds(query: Named, name: string): number | undefined {
  const text = textOf(query, name);
  if (text === undefined) return undefined;
  const seconds = Number(text);
  return Number.isFinite(seconds) ? seconds * 1000 : refuse(name, 'a time in unix seconds', text);
}

function readLimit(given: unknown): number {
  const limit = typeof given === 'string' && /^\d{1,4}$/.test(given) ? Number(given) : Number.NaN;
  return limit <= pageLimit ? limit : refuse('limit', `a whole number from 0 to ${pageLimit}`, given);
}

function readOrder(given: unknown): 'asc' | 'desc' {
  return given === 'asc' || given === 'desc' ? given : refuse('order', 'one of asc, desc', given);
}

function refuse(name: string, wanted: string, given: unknown): never {
  throw new RequestError('invalid_value', name, `${name} must be ${wanted}, got ${showValue(given)}`);
}
