// Numbers for Prometheus, all with the prefix orrery_.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { JobQueue, JobRecord, Supervisor } from '../../engine/jobs/types.js';
import type { Decision } from '../../engine/safety/guard.js';
import type { ServerStatus } from '../../protocol/index.js';

/** What is read when somebody asks for the numbers. */
export interface MetricSources {
  readonly queue: JobQueue;
  readonly supervisor: Supervisor;
  readonly openStreams: () => number;
}

/** Some of the counters, in wire words. */
export type MetricsSnapshot = Pick<
  ServerStatus,
  'steps_per_second' | 'ended' | 'failures' | 'refusals' | 'phase_seconds'
>;

/** Counts what happens. */
export interface Metrics {
  accepted(kind: string, task: string): void;
  ended(record: JobRecord): void;
  judged(decision: Decision): void;
  unguarded(): void;
  answered(route: string, method: string, status: number, seconds: number): void;
  refused(reason: string): void;
  policyStep(seconds: number): void;
  /** The counters of the status door. */
  snapshot(): Promise<MetricsSnapshot>;
  /** The text that Prometheus reads. */
  text(): Promise<string>;
  readonly contentType: string;
}

const secondsBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600];

/** Opens the counters. `watch` gives the sources once the engine is open. */
export function openMetrics(watch: () => MetricSources | null): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'orrery_server_' });
  const own = { registers: [registry] };
  const accepted = new Counter({
    ...own,
    name: 'orrery_jobs_accepted_total',
    help: 'Jobs taken into the queue.',
    labelNames: ['kind', 'task'],
  });
  const ended = new Counter({
    ...own,
    name: 'orrery_jobs_ended_total',
    help: 'Jobs that ended.',
    labelNames: ['kind', 'task', 'status'],
  });
  const failures = new Counter({
    ...own,
    name: 'orrery_job_failures_total',
    help: 'Failed jobs by coded error.',
    labelNames: ['code'],
  });
  const waited = new Histogram({
    ...own,
    name: 'orrery_job_wait_seconds',
    help: 'Time in the queue.',
    labelNames: ['kind'],
    buckets: secondsBuckets,
  });
  const ran = new Histogram({
    ...own,
    name: 'orrery_job_run_seconds',
    help: 'From the last start to the end.',
    labelNames: ['task'],
    buckets: secondsBuckets,
  });
  const phases = new Histogram({
    ...own,
    name: 'orrery_phase_seconds',
    help: 'Time of one phase of a job.',
    labelNames: ['phase', 'task'],
    buckets: secondsBuckets,
  });
  const speed = new Gauge({
    ...own,
    name: 'orrery_steps_per_second',
    help: 'Denoise steps a second of the latest job.',
    labelNames: ['task'],
  });
  const peak = new Gauge({
    ...own,
    name: 'orrery_job_peak_memory_bytes',
    help: 'Most memory of the device process in the latest job.',
    labelNames: ['task'],
  });
  const decisions = new Counter({
    ...own,
    name: 'orrery_guardrail_decisions_total',
    help: 'Judgements of the guardrails.',
    labelNames: ['checker', 'subject', 'outcome', 'category'],
  });
  const guardTime = new Histogram({
    ...own,
    name: 'orrery_guardrail_seconds',
    help: 'Time of one judgement.',
    labelNames: ['checker'],
    buckets: [0.0001, 0.001, 0.01, 0.1, 1, 10],
  });
  const unguarded = new Counter({
    ...own,
    name: 'orrery_guardrail_skipped_total',
    help: 'Requests that turned their checks off.',
  });
  const requests = new Histogram({
    ...own,
    name: 'orrery_http_request_seconds',
    help: 'HTTP requests.',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 600],
  });
  const refused = new Counter({
    ...own,
    name: 'orrery_http_refusals_total',
    help: 'Requests refused, by coded error.',
    labelNames: ['reason'],
  });
  const policy = new Histogram({
    ...own,
    name: 'orrery_policy_seconds',
    help: 'Time of one answer on the robot socket.',
    buckets: [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10],
  });
  const reused = new Counter({
    ...own,
    name: 'orrery_text_cache_hits_total',
    help: 'Prompts that had been read before.',
  });
  const computed = new Counter({
    ...own,
    name: 'orrery_text_cache_misses_total',
    help: 'Prompts that had to be read.',
  });
  const textBytes = new Gauge({
    ...own,
    name: 'orrery_text_cache_bytes',
    help: 'Keys and values of prompts that the device keeps, behind the latest job.',
  });
  const steps = new Counter({
    ...own,
    name: 'orrery_steps_total',
    help: 'Denoise steps of jobs that were completed.',
    labelNames: ['work'],
  });
  addLiveGauges(registry, watch);
  return {
    accepted: (kind, task) => accepted.inc({ kind, task }),
    ended: (record) => {
      const task = taskOf(record);
      const { status, kind, timings, error } = record;
      ended.inc({ kind, task, status });
      if (status === 'failed') failures.inc({ code: error?.code ?? 'internal_error' });
      if (timings === null || record.startedAt === null) return;
      waited.observe({ kind }, timings.queued);
      ran.observe({ task }, timings.total);
      for (const [phase, seconds] of Object.entries(timings.phases)) phases.observe({ phase, task }, seconds);
      const planned = stepsOf(record);
      if (planned > 0 && (timings.phases.denoise ?? 0) > 0)
        speed.set({ task }, planned / (timings.phases.denoise ?? 1));
      reused.inc(countOf(record, 'reusedTexts'));
      computed.inc(countOf(record, 'computedTexts'));
      if (record.result !== null) textBytes.set(countOf(record, 'textCacheBytes'));
      steps.inc({ work: 'computed' }, countOf(record, 'computedSteps'));
      steps.inc({ work: 'skipped' }, countOf(record, 'steps') - countOf(record, 'computedSteps'));
      if (timings.peakMemoryMb > 0) peak.set({ task }, timings.peakMemoryMb * 2 ** 20);
    },
    judged: ({ checker, subject, outcome, category, seconds }) => {
      decisions.inc({ checker, subject, outcome, category: outcome === 'blocked' ? (category ?? '') : '' });
      guardTime.observe({ checker }, seconds);
    },
    unguarded: () => unguarded.inc(),
    answered: (route, method, status, seconds) => requests.observe({ route, method, status }, seconds),
    refused: (reason) => refused.inc({ reason }),
    policyStep: (seconds) => policy.observe(seconds),
    snapshot: async () => ({
      steps_per_second: sumBy(await speed.get(), 'task'),
      ended: { completed: 0, failed: 0, cancelled: 0, ...sumBy(await ended.get(), 'status') },
      failures: sumBy(await failures.get(), 'code'),
      refusals: sumBy(await refused.get(), 'reason'),
      phase_seconds: totalsBy(await phases.get(), 'phase'),
    }),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

interface Sampled {
  readonly values: readonly {
    readonly value: number;
    readonly labels: Readonly<Record<string, string | number | undefined>>;
    readonly metricName?: string | undefined;
  }[];
}

/** Values by one of their labels. */
function sumBy({ values }: Sampled, label: string): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { value, labels } of values) {
    const name = String(labels[label] ?? '');
    sums[name] = (sums[name] ?? 0) + value;
  }
  return sums;
}

/** How often and how much, of a histogram. */
function totalsBy({ values }: Sampled, label: string): Record<string, { count: number; sum: number }> {
  const part = (suffix: string) =>
    sumBy({ values: values.filter(({ metricName }) => metricName?.endsWith(suffix) === true) }, label);
  const [counts, sums] = [part('_count'), part('_sum')];
  return Object.fromEntries(
    Object.entries(counts).map(([name, count]) => [name, { count, sum: Math.round((sums[name] ?? 0) * 1000) / 1000 }]),
  );
}

function taskOf({ result }: JobRecord): string {
  return typeof result?.task === 'string' ? result.task : 'unknown';
}

/** A number of the result; 0 where it has none. */
function countOf({ result }: JobRecord, name: string): number {
  const value = result?.[name];
  return typeof value === 'number' && value >= 0 ? value : 0;
}

function stepsOf({ progress, request }: JobRecord): number {
  const asked = request.extra.num_inference_steps ?? request.fields.num_inference_steps;
  return progress?.steps ?? (Number(asked) || 0);
}

/** Numbers that are looked up when asked for. */
function addLiveGauges(registry: Registry, watch: () => MetricSources | null): void {
  const registers = [registry];
  new Gauge({
    registers,
    name: 'orrery_jobs',
    help: 'Jobs by status.',
    labelNames: ['status'],
    async collect() {
      const counts = await watch()?.queue.counts();
      if (counts === undefined) return;
      this.set({ status: 'queued' }, counts.queued);
      this.set({ status: 'in_progress' }, counts.inProgress);
      this.set({ status: 'completed' }, counts.completed);
      this.set({ status: 'failed' }, counts.failed);
      this.set({ status: 'cancelled' }, counts.cancelled);
    },
  });
  new Gauge({
    registers,
    name: 'orrery_worker_restarts',
    help: 'Starts of a device process after its first.',
    labelNames: ['device'],
    collect() {
      for (const { device, restarts } of watch()?.supervisor.workers ?? []) this.set({ device }, restarts);
    },
  });
  new Gauge({
    registers,
    name: 'orrery_worker_resident_bytes',
    help: 'Memory of a device process.',
    labelNames: ['device'],
    collect() {
      for (const { device, residentBytes } of watch()?.supervisor.workers ?? []) this.set({ device }, residentBytes);
    },
  });
  new Gauge({
    registers,
    name: 'orrery_worker_busy',
    help: '1 while a device process runs a job.',
    labelNames: ['device'],
    collect() {
      for (const { device, status } of watch()?.supervisor.workers ?? [])
        this.set({ device }, status === 'busy' ? 1 : 0);
    },
  });
  new Gauge({
    registers,
    name: 'orrery_event_streams',
    help: 'Open event streams.',
    collect() {
      this.set(watch()?.openStreams() ?? 0);
    },
  });
}
