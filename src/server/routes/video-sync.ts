// Videos while the caller waits: the clip is the reply.
import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { JobRecord } from '../../engine/jobs/types.js';
import { RequestError, VideoRequest } from '../../protocol/index.js';
import { awaitJob, goneSignal } from '../jobs/await-job.js';
import { syncVideoOutputs } from '../jobs/job-outputs.js';
import { enqueue, prepare } from '../jobs/submission.js';
import { ownerOf } from '../owner.js';
import { readVideoForm } from '../requests/read-video-form.js';
import { describeJobError, sendFailure } from '../respond.js';
import type { ServerContext } from '../server-context.js';
import { documented } from './documented.js';
import { receiveBody } from './request-body.js';
import { formTypes, tellIgnored } from './videos.js';

/** Adds the route. */
export function addVideoSyncRoute(app: FastifyInstance, context: ServerContext): void {
  const schema = documented({
    summary: 'Makes a video; the reply is the clip',
    tags: ['Videos'],
    body: VideoRequest,
    consumes: formTypes,
    bytes: 'video/mp4',
    errors: [400, 401, 413, 415, 429, 500, 503, 504],
  });
  app.post('/v1/videos/sync', { schema }, async (request, reply) => {
    const gone = goneSignal(reply);
    const requestId = `video_sync-${randomUUID()}`;
    reply.header('x-request-id', requestId);
    await using body = await receiveBody(request, context);
    const form = readVideoForm(body);
    tellIgnored(reply, form.ignored);
    const { syncTimeoutSeconds } = context.settings;
    const prepared = await prepare(context, form);
    const { record } = await enqueue(context, prepared, {
      owner: ownerOf(request),
      requestId,
      kind: 'video.sync',
      outputs: syncVideoOutputs,
      transient: true,
      deadlineAt: Date.now() + syncTimeoutSeconds * 1000,
    });
    const done = await awaitJob(context.queue, record.id, {
      timeoutSeconds: syncTimeoutSeconds,
      signal: gone,
      ending: context.ending,
    });
    if (done.status !== 'completed') return sendFailure(request, reply, describeEnd(done, 'Video generation failed'));
    const named = prepared.wire.fields.model;
    addTimings(reply, done, typeof named === 'string' ? named : context.modelNames[0]);
    return sendClip(context, done, reply);
  });
}

/** Why a job that a caller waited for has no result. */
export function describeEnd({ status, error }: JobRecord, words: string) {
  if (error === null) {
    const message = status === 'cancelled' ? 'The job was cancelled.' : `${words}.`;
    return { status: 500, reason: 'internal_error', param: null, message } as const;
  }
  const failure = describeJobError(error);
  return failure.status >= 500 ? { ...failure, message: `${words}: ${failure.message}` } : failure;
}

function addTimings(reply: FastifyReply, { timings }: JobRecord, model: string): void {
  const phases = Object.entries(timings?.phases ?? {}).map(([name, seconds]) => [
    name,
    Math.round(seconds * 1000) / 1000,
  ]);
  reply
    .header('x-model', model.replace(/[^\x20-\x7e]/g, '?'))
    .header('x-inference-time-s', (timings?.total ?? 0).toFixed(3))
    .header('x-stage-durations', JSON.stringify(Object.fromEntries(phases)))
    .header('x-peak-memory-mb', (timings?.peakMemoryMb ?? 0).toFixed(3));
}

async function sendClip(context: ServerContext, { id, artifacts }: JobRecord, reply: FastifyReply) {
  const clip = artifacts.find(({ variant }) => variant === 'video');
  reply.type('video/mp4');
  // A result of actions alone has no clip.
  if (clip === undefined) return reply.header('content-length', 0).send(Buffer.alloc(0));
  const stream = await context.artifacts.read(clip.file).catch(() => {
    throw new RequestError('internal_error', null, 'Video generation failed: the result is gone.');
  });
  reply.header('content-length', clip.bytes);
  reply.raw.once('close', () => void drop(context, id));
  return reply.send(stream);
}

/** The caller has the result; nobody else will ask for it. */
export async function drop(
  { queue, artifacts }: Pick<ServerContext, 'queue' | 'artifacts'>,
  id: string,
): Promise<void> {
  const files = await queue.delete(id);
  if (Array.isArray(files)) await artifacts.delete(files);
}
