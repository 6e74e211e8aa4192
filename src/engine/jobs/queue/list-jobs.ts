// Lists jobs a page at a time: conditions are settled on an index, only the rows of the page are read.
import type { Bindable, JobDatabase } from '../database.js';
import type { JobPage, ListQuery } from '../types.js';
import { type JobRow, jobColumns, readRow, toRecord } from './job-rows.js';

const longestPage = 1000;

/** A condition in SQL and its values. */
interface Condition {
  readonly sql: string;
  readonly values: Readonly<Record<string, Bindable>>;
}

/** The page of jobs that a query asks for. Jobs whose callers wait on the line are not listed. */
export function listJobs(database: JobDatabase, query: ListQuery): JobPage {
  const limit = Math.min(longestPage, Math.max(0, query.limit ?? 20));
  const isAscending = query.order === 'asc';
  const conditions = conditionsOf(query);
  const where = ['transient = 0', ...conditions.map(({ sql }) => sql)].join(' AND ');
  const values: Record<string, Bindable> = Object.assign({}, ...conditions.map((condition) => condition.values));
  const count = () => database.get<{ n: number }>(`SELECT count(*) AS n FROM jobs WHERE ${where}`, values)?.n ?? 0;
  const total = query.counts === true ? count() : null;
  const from = query.after === undefined ? null : readRow(database, query.after);
  if (from === undefined) return { jobs: [], hasMore: false, total };
  const rows = database.all<JobRow>(
    `SELECT ${jobColumns} FROM jobs WHERE seq IN (
       SELECT seq FROM jobs WHERE ${where} AND seq ${isAscending ? '>' : '<'} :seq
       ORDER BY seq ${isAscending ? 'ASC' : 'DESC'} LIMIT :limit)
     ORDER BY seq ${isAscending ? 'ASC' : 'DESC'}`,
    { ...values, seq: from?.seq ?? (isAscending ? 0 : Number.MAX_SAFE_INTEGER), limit: limit + 1 },
  );
  const jobs = rows.slice(0, limit).map((row) => toRecord(database, row));
  return { jobs, hasMore: rows.length > limit, total };
}

function conditionsOf(query: ListQuery): readonly Condition[] {
  const { owner, kind, status, statuses, tasks, words, createdFrom, createdBefore, endedFrom } = query;
  return [
    ...given(owner, (value) => ({ sql: 'owner = :owner', values: { owner: value } })),
    ...given(kind, (value) => ({ sql: 'kind = :kind', values: { kind: value } })),
    ...given(status, (value) => ({ sql: 'status = :status', values: { status: value } })),
    ...given(statuses, (value) => ({
      sql: 'status IN (SELECT value FROM json_each(:statuses))',
      values: { statuses: JSON.stringify(value) },
    })),
    ...given(tasks, (value) => ({
      sql: 'task IN (SELECT value FROM json_each(:tasks))',
      values: { tasks: JSON.stringify(value) },
    })),
    ...given(words, (value) => ({
      sql: 'NOT EXISTS (SELECT 1 FROM json_each(:words) AS wanted WHERE instr(words, wanted.value) = 0)',
      values: { words: JSON.stringify(value.map((word) => word.toLowerCase())) },
    })),
    ...given(createdFrom, (value) => ({ sql: 'created_at >= :createdFrom', values: { createdFrom: value } })),
    ...given(endedFrom, (value) => ({ sql: 'completed_at >= :endedFrom', values: { endedFrom: value } })),
    ...given(createdBefore, (value) => ({ sql: 'created_at < :createdBefore', values: { createdBefore: value } })),
  ];
}

function given<T>(value: T | undefined, make: (value: T) => Condition): readonly Condition[] {
  return value === undefined ? [] : [make(value)];
}
