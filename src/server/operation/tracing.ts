// Spans for OpenTelemetry. Without an SDK that the process has loaded they cost nothing and go nowhere.

import { setTimeout } from 'node:timers/promises';
import { context, ProxyTracerProvider, type Span, SpanStatusCode, trace } from '@opentelemetry/api';
import type { JobRecord } from '../../engine/jobs/types.js';

/** Makes spans of stages and of finished jobs. */
export interface Tracing {
  /** A span around a stage of a request. */
  stage<T>(
    name: string,
    body: () => Promise<T> | T,
    attributes?: Readonly<Record<string, string | number>>,
  ): Promise<T>;
  /** Spans of a job that has ended: one for the whole, one for each phase, placed by their durations. */
  job(record: JobRecord): void;
  /** Sends what the SDK still holds, where it can: batches wait, and the process ends. */
  flush(): Promise<void>;
}

/** How long the end of a server waits for spans to leave. */
const flushMs = 5000;

/** Opens tracing on whatever provider the process has registered. */
export function openTracing(): Tracing {
  const tracer = () => trace.getTracer('orrery');
  return {
    stage: (name, body, attributes = {}) =>
      tracer().startActiveSpan(`orrery.${name}`, { attributes }, async (span) => {
        try {
          return await body();
        } catch (error) {
          markFailed(span, error);
          throw error;
        } finally {
          span.end();
        }
      }),
    job: (record) => {
      if (record.startedAt === null || record.completedAt === null) return;
      const attributes = {
        'orrery.job.id': record.id,
        'orrery.job.kind': record.kind,
        'orrery.job.status': record.status,
        'orrery.job.attempts': record.attempts,
        'orrery.request.id': record.requestId,
      };
      const whole = tracer().startSpan('orrery.job', { attributes, startTime: record.startedAt });
      const inside = trace.setSpan(context.active(), whole);
      let at = record.startedAt;
      for (const [phase, seconds] of Object.entries(record.timings?.phases ?? {})) {
        const span = tracer().startSpan(`orrery.job.${phase}`, { startTime: at }, inside);
        at += seconds * 1000;
        span.end(at);
      }
      if (record.error !== null) whole.setStatus({ code: SpanStatusCode.ERROR, message: record.error.code });
      whole.end(record.completedAt);
    },
    async flush() {
      const registered = trace.getTracerProvider();
      const provider: object = registered instanceof ProxyTracerProvider ? registered.getDelegate() : registered;
      if (!('forceFlush' in provider) || typeof provider.forceFlush !== 'function') return;
      // An endpoint that cannot be reached is no reason not to end.
      const sent = Promise.resolve(provider.forceFlush()).catch(() => undefined);
      await Promise.race([sent, setTimeout(flushMs, undefined, { ref: false })]);
    },
  };
}

function markFailed(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'error' });
}
