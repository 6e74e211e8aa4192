// Video jobs: create, list, look up, cancel, delete.
import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { JobRecord, QueuePlace } from '../../engine/jobs/types.js';
import { RequestError, showValue, VideoDeleted, VideoJob, VideoList, VideoRequest } from '../../protocol/index.js';
import { jobHeaders, readJobHeaders } from '../jobs/job-headers.js';
import { videoOutputs } from '../jobs/job-outputs.js';
import { enqueue, prepare } from '../jobs/submission.js';
import { viewVideo } from '../jobs/video-view.js';
import { ownerOf } from '../owner.js';
import { ignoredHeader } from '../requests/generation-form.js';
import { readVideoForm } from '../requests/read-video-form.js';
import { describeJobError } from '../respond.js';
import type { ServerContext } from '../server-context.js';
import { signedUrl } from './content-url.js';
import { documented } from './documented.js';
import { receiveBody } from './request-body.js';

const tags = ['Videos'];
const idParams = Type.Object({ id: Type.String({ description: 'Id of the job.' }) });
export const formTypes = ['multipart/form-data', 'application/x-www-form-urlencoded', 'application/json'];

type IdRoute = { Params: { id: string } };

/** The kind under which video jobs are listed. */
export const videoKind = 'video';

/** Adds the routes. */
export function addVideoRoutes(app: FastifyInstance, context: ServerContext): void {
  app.post(
    '/v1/videos',
    {
      schema: documented({
        summary: 'Makes a video in the background; gives its job at once',
        tags,
        headers: jobHeaders,
        body: VideoRequest,
        consumes: formTypes,
        reply: VideoJob,
        errors: [400, 401, 409, 413, 415, 429, 503],
      }),
    },
    async (request, reply) => {
      await using body = await receiveBody(request, context);
      const form = readVideoForm(body);
      tellIgnored(reply, form.ignored);
      const prepared = await prepare(context, form);
      const { record } = await enqueue(context, prepared, {
        id: `video_gen_${randomUUID().replaceAll('-', '')}`,
        owner: ownerOf(request),
        requestId: request.id,
        kind: videoKind,
        outputs: videoOutputs,
        ...readJobHeaders(request),
      });
      return view(context, record);
    },
  );

  app.get<{ Querystring: Readonly<Record<string, unknown>> }>(
    '/v1/videos',
    {
      schema: documented({
        summary: 'Video jobs, a page at a time',
        tags,
        query: Type.Object({
          after: Type.Optional(Type.String({ description: 'Last id of the page before.' })),
          limit: Type.Optional(
            Type.Integer({ minimum: 0, maximum: 100, description: 'Jobs of a page; 20 where absent.' }),
          ),
          order: Type.Optional(Type.Enum(['asc', 'desc'], { description: 'By time of creation; desc where absent.' })),
        }),
        reply: VideoList,
        errors: [400],
      }),
    },
    (request) => listVideos(context, ownerOf(request), request.query),
  );

  app.get<IdRoute>(
    '/v1/videos/:id',
    {
      schema: documented({
        summary: 'State of a video job; a failed one answers with the status of its failure',
        tags,
        params: idParams,
        reply: VideoJob,
        errors: [404],
      }),
    },
    async (request, reply) => {
      const record = await findVideo(context, request);
      const status = record.status === 'failed' && record.error !== null ? describeJobError(record.error).status : 200;
      return reply.code(status).send(await view(context, record));
    },
  );

  app.post<IdRoute>(
    '/v1/videos/:id/cancel',
    {
      schema: documented({
        summary: 'Cancels a job that waits or runs',
        tags,
        params: idParams,
        reply: VideoJob,
        errors: [404, 409],
      }),
    },
    async (request) => {
      const { id } = await findVideo(context, request);
      const status = await context.queue.cancel(id);
      if (status === 'completed' || status === 'failed') {
        throw new RequestError('job_busy', null, `The job is ${status} already; there is nothing to cancel.`);
      }
      return view(context, await findVideo(context, request));
    },
  );

  app.delete<IdRoute>(
    '/v1/videos/:id',
    {
      schema: documented({
        summary: 'Deletes a job and its results; one that waits or runs is cancelled first',
        tags,
        params: idParams,
        reply: VideoDeleted,
        errors: [404, 409],
      }),
    },
    async (request): Promise<VideoDeleted> => {
      const { id, status } = await findVideo(context, request);
      if (status === 'queued' || status === 'in_progress') await context.queue.cancel(id);
      const files = await context.queue.delete(id);
      if (files === 'unknown') throw notFound();
      if (files === 'busy')
        throw new RequestError('job_busy', null, 'Cancellation in progress. Please try again later.');
      await context.artifacts.delete(files);
      return { id, object: 'video.deleted', deleted: true };
    },
  );
}

/** Names what was ignored in a header. */
export function tellIgnored(reply: FastifyReply, names: readonly string[]): void {
  const header = ignoredHeader(names);
  if (header !== null) reply.header('x-orrery-ignored', header);
}

/** The record of the job that a route's address names, if it is a video of the caller's. @throws RequestError `not_found` */
export async function findVideo(
  { queue }: ServerContext,
  request: FastifyRequest<IdRoute>,
  anyOwner = false,
): Promise<JobRecord> {
  const record = await queue.get(request.params.id);
  const isTheirs = record !== null && (anyOwner || record.owner === ownerOf(request));
  if (record === null || !isTheirs || record.kind !== videoKind) throw notFound();
  return record;
}

function notFound(): RequestError {
  return new RequestError('not_found', null, 'Video not found');
}

/** A record for clients, with its place in the queue. */
export async function view(context: ServerContext, record: JobRecord): Promise<VideoJob> {
  const places = record.status === 'queued' ? await context.queue.places() : null;
  return viewWith(context, record, places);
}

function viewWith(context: ServerContext, record: JobRecord, places: readonly QueuePlace[] | null): VideoJob {
  return viewVideo(record, {
    modelName: context.modelNames[0],
    place: record.status === 'queued' ? (places?.find(({ jobId }) => jobId === record.id)?.place ?? null) : null,
    contentUrl: (jobId, { variant }) => signedUrl(context, `/v1/videos/${jobId}/content`, { variant }),
  });
}

async function listVideos(
  context: ServerContext,
  owner: string,
  query: Readonly<Record<string, unknown>>,
): Promise<VideoList> {
  const { after, limit, order } = readPage(query);
  const { jobs, hasMore } = await context.queue.list({ owner, kind: videoKind, after, limit, order });
  const places = jobs.some(({ status }) => status === 'queued') ? await context.queue.places() : null;
  const data = jobs.map((record) => viewWith(context, record, places));
  return { object: 'list', data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: hasMore };
}

function readPage({ after, limit = '20', order = 'desc' }: Readonly<Record<string, unknown>>) {
  const count = typeof limit === 'string' && /^\d{1,4}$/.test(limit) ? Number(limit) : Number.NaN;
  if (!(count >= 0 && count <= 100)) {
    throw new RequestError(
      'invalid_value',
      'limit',
      `limit must be a whole number from 0 to 100, got ${showValue(limit)}`,
    );
  }
  if (order !== 'asc' && order !== 'desc') {
    throw new RequestError('invalid_value', 'order', `order must be one of asc, desc, got ${showValue(order)}`);
  }
  if (after !== undefined && typeof after !== 'string') {
    throw new RequestError('invalid_value', 'after', `after must be the id of a job, got ${showValue(after)}`);
  }
  return { after: after === '' ? undefined : after, limit: count, order } as const;
}
