// What time does to jobs: lost leases, deadlines, lifetimes. Inside a transaction of the caller.
import type { JobDatabase } from '../database.js';
import type { Expired, JobChange } from '../types.js';
import { artifactsOf, type JobRow, jobColumns } from './job-rows.js';
import { endJob, requeue } from './job-states.js';

export interface ExpiryOptions {
  /** Takes back all running jobs and drops transient ones: nobody works on them any more. */
  readonly abandonAll?: boolean;
}

/** Applies time to all jobs. Gives what was removed. */
export function expireJobs(
  database: JobDatabase,
  now: number,
  { abandonAll = false }: ExpiryOptions,
  change: (change: JobChange) => void,
): Expired {
  const removed: { readonly jobs: string[]; readonly files: string[] } = { jobs: [], files: [] };
  const find = (where: string) => database.all<JobRow>(`SELECT ${jobColumns} FROM jobs WHERE ${where}`, { now });
  const remove = ({ id, owner }: JobRow) => {
    removed.files.push(...artifactsOf(database, id).map(({ file }) => file));
    database.run('DELETE FROM jobs WHERE id = :id', { id });
    removed.jobs.push(id);
    change({ id, owner, change: 'deleted' });
  };

  // A caller who waited on the line is gone with the process that served it.
  if (abandonAll) for (const row of find(':now > 0 AND transient = 1')) remove(row);
  const lost = abandonAll ? ':now > 0' : 'lease_until <= :now';
  for (const row of find(`status = 'in_progress' AND ${lost}`)) {
    requeue(database, row, now);
    change({ id: row.id, owner: row.owner, change: 'queued' });
  }
  for (const row of find(`status IN ('queued', 'in_progress') AND deadline_at <= :now`)) {
    const message = `The job was not done by its deadline, ${new Date(row.deadline_at ?? now).toISOString()}.`;
    endJob(database, row, { status: 'failed', now, error: { code: 'timeout', param: null, message } });
    change({ id: row.id, owner: row.owner, change: 'failed' });
  }
  for (const row of find(`status IN ('completed', 'failed', 'cancelled') AND expires_at <= :now`)) remove(row);
  return removed;
}
