// Routes on the server itself: health, readiness, version, metrics, documentation.
import type { FastifyInstance, FastifyReply } from 'fastify';
import { packageVersion } from '../../engine/index.js';
import {
  type Health,
  Health as HealthSchema,
  type Readiness,
  Readiness as ReadinessSchema,
  Version,
} from '../../protocol/index.js';
import { addPage, builtPage } from '../page/page-files.js';
import type { ServerContext } from '../server-context.js';
import { docsPage } from './docs-page.js';
import { documented } from './documented.js';

const tags = ['Server'];

/** Adds the routes. */
export function addHealthRoutes(app: FastifyInstance, context: ServerContext): void {
  app.get(
    '/health',
    { schema: documented({ summary: 'Whether the server can work', tags, reply: HealthSchema, errors: [503] }) },
    (_request, reply) => {
      const health = describeHealth(context);
      return reply.code(health.status === 'healthy' ? 200 : 503).send(health);
    },
  );

  app.get(
    '/ready',
    { schema: documented({ summary: 'Whether new jobs would start', tags, reply: ReadinessSchema, errors: [503] }) },
    async (_request, reply) => {
      const readiness = await describeReadiness(context);
      return reply.code(readiness.ready ? 200 : 503).send(readiness);
    },
  );

  const ping = { schema: documented({ summary: 'Nothing but an answer', tags }) };
  app.get('/ping', ping, (_request, reply) => reply.code(200).send());
  app.post('/ping', ping, (_request, reply) => reply.code(200).send());

  app.get('/version', { schema: documented({ summary: 'Version of the server', tags, reply: Version }) }, () => ({
    version: packageVersion(),
  }));

  app.get('/load', { schema: documented({ summary: 'Jobs that wait or run', tags }) }, async () => {
    const { queued, inProgress } = await context.queue.counts();
    return { server_load: queued + inProgress };
  });

  app.get(
    '/metrics',
    { schema: documented({ summary: 'Numbers for Prometheus', tags, bytes: 'text/plain' }) },
    async (_request, reply) => reply.type(context.metrics.contentType).send(await context.metrics.text()),
  );

  app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger());
  const documents = (reply: FastifyReply) =>
    reply
      .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
      .type('text/html; charset=utf-8')
      .send(docsPage(app.swagger(), context.settings.rootPath));
  app.get('/docs', { schema: { hide: true } }, (_request, reply) => documents(reply));
  addPage(app, builtPage(), documents);
}

function describeHealth({ supervisor }: ServerContext): Health {
  const { workers } = supervisor;
  if (workers.length === 0) return { status: 'unhealthy', reason: 'No engine initialized' };
  // A worker that died is started again: the server stays healthy as long as that goes on.
  const isDead = workers.every(({ status }) => status === 'stopped');
  return isDead
    ? { status: 'unhealthy', reason: workers[0]?.lastCrash ?? 'The device process has stopped' }
    : { status: 'healthy' };
}

async function describeReadiness({ supervisor, queue, isDraining }: ServerContext): Promise<Readiness> {
  const { queued, inProgress } = await queue.counts();
  const workers = supervisor.workers.map(({ device, status, restarts, lastCrash }) => ({
    device,
    status,
    restarts,
    last_crash: lastCrash,
  }));
  const isWorking = workers.some(({ status }) => status === 'idle' || status === 'busy');
  const reason = isDraining() ? 'shutting down' : isWorking ? null : 'the device process is not ready';
  return { ready: reason === null, reason, workers, queue: { queued, in_progress: inProgress } };
}
