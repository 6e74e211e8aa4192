// Jobs of every kind: make, list, look at, cancel, delete; their results, inputs and plans.
import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { JobRecord, QueuePlace, UploadRecord } from '../../engine/jobs/types.js';
import { Job, JobDeleted, JobList, RequestError, VideoRequest } from '../../protocol/index.js';
import { jobHeaders, readJobHeaders } from '../jobs/job-headers.js';
import { imageOutputs, videoOutputs } from '../jobs/job-outputs.js';
import { enqueue, prepare } from '../jobs/submission.js';
import { ownerOf } from '../owner.js';
import { type ContentRoute, contentQuery, sendBytes, sendContent } from '../routes/content.js';
import { isSignedContent, signedUrl } from '../routes/content-url.js';
import { documented } from '../routes/documented.js';
import { receiveBody } from '../routes/request-body.js';
import { formTypes, tellIgnored, videoKind } from '../routes/videos.js';
import type { ServerContext } from '../server-context.js';
import { findJob } from './find-job.js';
import { viewJob } from './job-view.js';
import { readJobForm } from './read-job-form.js';
import { pageLimit, readJobQuery } from './read-job-query.js';

const tags = ['Jobs'];
const params = Type.Object({ id: Type.String({ description: 'Id of the job.' }) });

type IdRoute = { Params: { id: string } };

/** The kind under which pictures are listed. */
export const imageKind = 'image';

/** Body of a job: that of a video; with the task text-to-image a picture, whose format it may name. */
export const JobRequest = Type.Object({
  ...VideoRequest.properties,
  output_format: Type.Optional(
    Type.Enum(['png', 'jpeg', 'jpg', 'webp'], { description: 'Format of a picture: png, jpeg, jpg, webp.' }),
  ),
});

const listQuery = Type.Object({
  q: Type.Optional(Type.String({ description: 'Words that must all occur in the prompt.' })),
  task: Type.Optional(Type.String({ description: 'One task or several, joined by commas.' })),
  status: Type.Optional(Type.String({ description: 'One status or several, joined by commas.' })),
  kind: Type.Optional(Type.Enum(['video', 'image'])),
  created_after: Type.Optional(Type.Number({ description: 'Unix seconds, inclusive.' })),
  created_before: Type.Optional(Type.Number({ description: 'Unix seconds, exclusive.' })),
  after: Type.Optional(Type.String({ description: 'Last id of the page before.' })),
  limit: Type.Optional(
    Type.Integer({ minimum: 0, maximum: pageLimit, description: 'Jobs of a page; 50 where absent.' }),
  ),
  order: Type.Optional(Type.Enum(['asc', 'desc'], { description: 'By time of creation; desc where absent.' })),
});

/** Adds the routes. */
export function addJobRoutes(app: FastifyInstance, context: ServerContext): void {
  addMakingRoute(app, context);
  addReadingRoutes(app, context);
  addEndingRoutes(app, context);
  addFileRoutes(app, context);
}

function addMakingRoute(app: FastifyInstance, context: ServerContext): void {
  const schema = documented({
    summary: 'Makes anything in the background; gives its job at once',
    tags,
    headers: jobHeaders,
    body: JobRequest,
    consumes: formTypes,
    reply: Job,
    errors: [400, 401, 409, 413, 415, 429, 503],
  });
  app.post('/v1/jobs', { schema }, async (request, reply) => {
    await using body = await receiveBody(request, context);
    const form = readJobForm(body);
    tellIgnored(reply, form.ignored);
    const prepared = await prepare(context, form);
    const isPicture = prepared.planned.plan.task === 'text-to-image';
    const { record } = await enqueue(context, prepared, {
      id: `${isPicture ? 'image_gen' : 'video_gen'}_${randomUUID().replaceAll('-', '')}`,
      owner: ownerOf(request),
      requestId: request.id,
      kind: isPicture ? imageKind : videoKind,
      outputs: (plan) => (isPicture ? imageOutputs(form.format) : videoOutputs(plan)),
      ...readJobHeaders(request),
    });
    return view(context, record);
  });
}

function addReadingRoutes(app: FastifyInstance, context: ServerContext): void {
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>(
    '/v1/jobs',
    {
      schema: documented({
        summary: 'Jobs that fit some conditions, a page at a time',
        tags,
        query: listQuery,
        reply: JobList,
        errors: [400],
      }),
    },
    (request) => listJobs(context, request),
  );
  app.get<IdRoute>(
    '/v1/jobs/:id',
    { schema: documented({ summary: 'A job', tags, params, reply: Job, errors: [404] }) },
    async (request) => view(context, await findJob(context, request)),
  );
  const plan = Type.Record(Type.String(), Type.Unknown());
  app.get<IdRoute>(
    '/v1/jobs/:id/plan',
    { schema: documented({ summary: 'What was settled for a job', tags, params, reply: plan, errors: [404] }) },
    async (request) => {
      const { id } = await findJob(context, request);
      const found = await context.queue.plan(id);
      if (found === null) throw new RequestError('not_found', null, 'The job has no plan yet');
      return found;
    },
  );
}

function addEndingRoutes(app: FastifyInstance, context: ServerContext): void {
  app.post<IdRoute>(
    '/v1/jobs/:id/cancel',
    {
      schema: documented({
        summary: 'Cancels a job that waits or runs',
        tags,
        params,
        reply: Job,
        errors: [404, 409],
      }),
    },
    async (request) => {
      const { id } = await findJob(context, request);
      const status = await context.queue.cancel(id);
      if (status === 'completed' || status === 'failed') {
        throw new RequestError('job_busy', null, `The job is ${status} already; there is nothing to cancel.`);
      }
      return view(context, await findJob(context, request));
    },
  );
  app.delete<IdRoute>(
    '/v1/jobs/:id',
    {
      schema: documented({
        summary: 'Deletes a job and its results; one that waits or runs is cancelled first',
        tags,
        params,
        reply: JobDeleted,
        errors: [404, 409],
      }),
    },
    async (request): Promise<JobDeleted> => {
      const { id } = await findJob(context, request);
      await deleteJob(context, id);
      return { id, object: 'job.deleted', deleted: true };
    },
  );
}

/** Deletes a job and its results. @throws RequestError `not_found`, or `job_busy` while it is being cancelled */
export async function deleteJob(
  { queue, artifacts }: Pick<ServerContext, 'queue' | 'artifacts'>,
  id: string,
): Promise<void> {
  await queue.cancel(id);
  const files = await queue.delete(id);
  if (files === 'unknown') throw new RequestError('not_found', null, 'Job not found');
  if (files === 'busy') throw new RequestError('job_busy', null, 'Cancellation in progress. Please try again later.');
  await artifacts.delete(files);
}

function addFileRoutes(app: FastifyInstance, context: ServerContext): void {
  const content = documented({
    summary: 'A result of a job, or a part of its bytes (Range)',
    tags,
    params,
    query: contentQuery,
    bytes: 'application/octet-stream',
    errors: [400, 404, 416, 422],
  });
  app.get<ContentRoute>('/v1/jobs/:id/content', { schema: content, exposeHeadRoute: true }, async (request, reply) => {
    const record = await findJob(context, request, isSignedContent(request, context.tokens));
    return sendContent(context, record, request, reply);
  });
  const input = documented({
    summary: 'What went into a job',
    tags,
    params: Type.Object({
      ...params.properties,
      role: Type.String({ description: 'image, video, or the name of a control hint.' }),
    }),
    bytes: 'application/octet-stream',
    errors: [404, 416],
  });
  app.get<ContentRoute & { Params: { id: string; role: string } }>(
    '/v1/jobs/:id/inputs/:role',
    { schema: input, exposeHeadRoute: true },
    async (request, reply) => {
      const record = await findJob(context, request, isSignedContent(request, context.tokens));
      const { role } = request.params;
      const found = record.request.inputs.find((candidate) => candidate.role === role);
      const upload = found === undefined ? null : await context.uploads.get(found.sha256);
      if (upload === null) throw new RequestError('not_found', 'role', `The job has no ${role.slice(0, 40)} any more.`);
      const { bytes: size, sha256, mediaType } = upload;
      const extension = mediaType.split('/')[1] ?? 'bin';
      return sendBytes(
        {
          size,
          etag: `"${sha256}"`,
          name: `${record.id}_${role}.${extension}`,
          mediaType,
          read: async (range) => context.uploads.read(upload, range),
        },
        request,
        reply,
      );
    },
  );
}

async function listJobs(
  context: ServerContext,
  request: FastifyRequest<{ Querystring: Readonly<Record<string, unknown>> }>,
): Promise<JobList> {
  const query = { ...readJobQuery(request.query), owner: ownerOf(request), counts: true };
  const { jobs, hasMore, total } = await context.queue.list(query);
  const places = jobs.some(({ status }) => status === 'queued') ? await context.queue.places() : [];
  const data: Job[] = [];
  for (const record of jobs) data.push(await viewWith(context, record, { places, withAction: false }));
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
    total: total ?? data.length,
  };
}

async function view(context: ServerContext, record: JobRecord): Promise<Job> {
  const places = record.status === 'queued' ? await context.queue.places() : [];
  return viewWith(context, record, { places, withAction: true });
}

async function viewWith(
  context: ServerContext,
  record: JobRecord,
  { places, withAction }: { readonly places: readonly QueuePlace[]; readonly withAction: boolean },
): Promise<Job> {
  const uploads = new Map<string, UploadRecord>();
  for (const { sha256 } of record.request.inputs) {
    const upload = await context.uploads.get(sha256);
    if (upload !== null) uploads.set(sha256, upload);
  }
  return viewJob(record, {
    modelName: context.modelNames[0],
    place: places.find(({ jobId }) => jobId === record.id)?.place ?? null,
    uploads,
    url: (path, query) => signedUrl(context, `/v1/jobs/${record.id}/${path}`, query),
    withAction,
  });
}
