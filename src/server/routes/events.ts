// Live events of jobs, as server-sent events: of one job, or of all of a caller's.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { EventTopic, JobEvent } from '../../engine/jobs/types.js';
import { JobEventData, type JobEventMessage } from '../../protocol/index.js';
import { findJob } from '../gallery/find-job.js';
import { viewError, viewProgress } from '../jobs/video-view.js';
import { ownerOf } from '../owner.js';
import type { ServerContext } from '../server-context.js';
import { documented } from './documented.js';
import { findVideo } from './videos.js';

type JobEventsRoute = { Params: { id: string }; Querystring: Readonly<Record<string, unknown>> };

const tags = ['Events'];
const keepAliveMs = 15_000;

/** Adds the routes. */
export function addEventRoutes(app: FastifyInstance, context: ServerContext): void {
  const query = Type.Object({
    since: Type.Optional(Type.Integer({ description: 'Stands for the header Last-Event-ID.' })),
  });
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>(
    '/v1/events',
    { schema: documented({ summary: 'Events of all jobs of the caller', tags, query, reply: JobEventData }) },
    (request, reply) => stream(context, { owner: ownerOf(request) }, request, reply),
  );
  const schema = documented({
    summary: 'Events of a job: place, steps, time left, previews; ends with the job',
    tags,
    params: Type.Object({ id: Type.String({ description: 'Id of the job.' }) }),
    query,
    reply: JobEventData,
    errors: [404],
  });
  app.get<JobEventsRoute>('/v1/videos/:id/events', { schema }, async (request, reply) => {
    const { id } = await findVideo(context, request);
    return stream(context, { jobId: id }, request, reply);
  });
  app.get<JobEventsRoute>('/v1/jobs/:id/events', { schema }, async (request, reply) => {
    const { id } = await findJob(context, request);
    return stream(context, { jobId: id }, request, reply);
  });
}

async function stream(
  { events, ending }: ServerContext,
  topic: EventTopic,
  request: FastifyRequest<{ Querystring: Readonly<Record<string, unknown>> }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { raw } = reply;
  const stop = new AbortController();
  raw.once('close', () => stop.abort());
  const signal = AbortSignal.any([stop.signal, ending]);
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value);
  raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  });
  raw.write(': hello\nretry: 2000\n\n');
  const alive = setInterval(() => raw.write(': keep-alive\n\n'), keepAliveMs);
  try {
    for await (const event of events.follow(topic, { since: readSince(request), signal })) {
      if (!raw.write(formatEvent(event))) await drained(raw, signal);
    }
  } catch (error) {
    if (!signal.aborted) request.log.error({ err: error }, 'event stream broke off');
  } finally {
    clearInterval(alive);
    raw.end();
  }
  return reply;
}

/** Waits until a slow reader has caught up; the feed gives it a snapshot if it has missed too much. */
function drained(raw: FastifyReply['raw'], signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    raw.once('drain', resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function readSince(request: FastifyRequest<{ Querystring: Readonly<Record<string, unknown>> }>): number | undefined {
  const given = request.headers['last-event-id'] ?? request.query.since;
  const id = typeof given === 'string' && /^\d{1,15}$/.test(given) ? Number(given) : undefined;
  return id;
}

function formatEvent(event: JobEvent): string {
  const { event: name, data, id } = toMessage(event);
  return `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** An event in wire words. */
function toMessage(event: JobEvent): JobEventMessage {
  const { id } = event;
  const common = { job_id: event.jobId, at: event.at };
  switch (event.type) {
    case 'status':
      return {
        id,
        event: 'status',
        data: { ...common, status: event.status, attempts: event.attempts, error: viewError(event) },
      };
    case 'place':
      return { id, event: 'place', data: { ...common, place: event.place, seconds_left: event.secondsLeft } };
    case 'progress':
      return { id, event: 'progress', data: { ...common, progress: viewProgress(event.progress) } };
    case 'preview': {
      const image = `data:${event.mediaType};base64,${Buffer.from(event.bytes).toString('base64')}`;
      const { step, steps, width, height, frame, final } = event;
      return { id, event: 'preview', data: { ...common, step, steps, image, width, height, frame, final } };
    }
    case 'deleted':
      return { id, event: 'deleted', data: common };
    default:
      return event satisfies never;
  }
}
