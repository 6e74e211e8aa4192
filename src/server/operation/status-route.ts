// The status door: the server as it is now, from the counters that /metrics shows.
import { statfs } from 'node:fs/promises';
import { cpus, freemem, totalmem } from 'node:os';
import type { FastifyInstance } from 'fastify';
import { packageVersion } from '../../engine/index.js';
import { ServerStatus } from '../../protocol/index.js';
import { viewProgress } from '../jobs/video-view.js';
import { ownerOf } from '../owner.js';
import { documented } from '../routes/documented.js';
import type { ServerContext } from '../server-context.js';

/** Adds the route. */
export function addStatusRoute(app: FastifyInstance, context: ServerContext): void {
  const schema = documented({
    summary: 'Device, memory, queue, speed, failures',
    tags: ['Server'],
    reply: ServerStatus,
  });
  app.get('/v1/status', { schema }, (request) => describeStatus(context, ownerOf(request)));
}

async function describeStatus(context: ServerContext, owner: string): Promise<ServerStatus> {
  const { queue, supervisor, events, metrics, startedAt, modelNames, isDraining } = context;
  const { queued, inProgress, completed, failed, cancelled } = await queue.counts();
  const { jobs } = await queue.list({ owner, status: 'in_progress', limit: 16 });
  const own = new Set(jobs.map(({ id }) => id));
  return {
    object: 'status',
    version: packageVersion(),
    model: modelNames[0],
    started_at: startedAt,
    uptime_s: Math.round(process.uptime() * 1000) / 1000,
    draining: isDraining(),
    devices: supervisor.workers.map((worker) => ({
      device: worker.device,
      name: worker.name ?? worker.device,
      status: worker.status,
      job_id: worker.jobId !== null && own.has(worker.jobId) ? worker.jobId : null,
      restarts: worker.restarts,
      last_crash: worker.lastCrash,
      resident_bytes: worker.residentBytes,
      memory_total_bytes: worker.memoryBytes,
    })),
    host: await describeHost(context),
    queue: { queued, in_progress: inProgress, completed, failed, cancelled },
    running: jobs.map(({ id, summary, progress }) => ({
      id,
      task: summary?.task ?? null,
      progress: progress === null ? null : viewProgress(progress),
    })),
    ...(await metrics.snapshot()),
    event_streams: events.followers,
  };
}

async function describeHost({ settings }: ServerContext): Promise<ServerStatus['host']> {
  const processors = cpus();
  const disk = await statfs(settings.storagePath).catch(() => null);
  return {
    cpu: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memory_total_bytes: totalmem(),
    memory_free_bytes: freemem(),
    disk_free_bytes: disk === null ? null : disk.bavail * disk.bsize,
  };
}
