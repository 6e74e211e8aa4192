// The job that a route's address names.
import type { FastifyRequest } from 'fastify';
import type { JobRecord } from '../../engine/jobs/types.js';
import { RequestError } from '../../protocol/index.js';
import { ownerOf } from '../owner.js';
import type { ServerContext } from '../server-context.js';

/**
 * The record of the caller's job of that id, of any kind that is kept.
 * @param anyOwner the address itself is the caller's right
 * @throws RequestError `not_found`
 */
export async function findJob(
  { queue }: Pick<ServerContext, 'queue'>,
  request: FastifyRequest<{ Params: { id: string } }>,
  anyOwner = false,
): Promise<JobRecord> {
  const record = await queue.get(request.params.id);
  const isTheirs = record !== null && (anyOwner || record.owner === ownerOf(request));
  if (record === null || !isTheirs || record.transient) throw new RequestError('not_found', null, 'Job not found');
  return record;
}
