import { type Context, type Span, type SpanOptions, type Tracer, type TracerProvider, trace } from '@opentelemetry/api';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JobRecord } from '../../engine/jobs/types.js';
import { openTracing } from './tracing.js';

interface Seen {
  readonly name: string;
  readonly attributes: SpanOptions['attributes'];
  readonly parent: string | undefined;
  readonly start: unknown;
  status: number;
  end: unknown;
}

let spans: Seen[];

/** What an SDK registers, reduced to a list of spans. */
function recordingProvider(): TracerProvider {
  const names = new WeakMap<Span, string>();
  const open = (name: string, options: SpanOptions = {}, inside?: Context): Span => {
    const above = inside === undefined ? undefined : trace.getSpan(inside);
    const seen: Seen = {
      name,
      attributes: options.attributes,
      parent: above === undefined ? undefined : names.get(above),
      start: options.startTime,
      status: 0,
      end: null,
    };
    spans.push(seen);
    const span: Span = {
      spanContext: () => ({ traceId: '1'.repeat(32), spanId: '1'.repeat(16), traceFlags: 1 }),
      setAttribute: () => span,
      setAttributes: () => span,
      addEvent: () => span,
      addLink: () => span,
      addLinks: () => span,
      setStatus: ({ code }) => {
        seen.status = code;
        return span;
      },
      updateName: () => span,
      end: (at) => {
        seen.end = at;
      },
      isRecording: () => true,
      recordException: () => undefined,
    };
    names.set(span, name);
    return span;
  };
  const startActiveSpan: Tracer['startActiveSpan'] = (name: string, ...rest: unknown[]) => {
    const body = rest.at(-1);
    if (typeof body !== 'function') throw new TypeError('startActiveSpan without a body');
    return body(open(name, rest.length > 1 ? (rest[0] as SpanOptions) : {}));
  };
  return { getTracer: () => ({ startSpan: open, startActiveSpan }) };
}

beforeEach(() => {
  spans = [];
  trace.setGlobalTracerProvider(recordingProvider());
});
afterEach(() => trace.disable());

test('stages of a request are spans, failed ones marked', async () => {
  const tracing = openTracing();
  expect(await tracing.stage('plan', () => 7, { 'orrery.n': 1 })).toBe(7);
  await expect(tracing.stage('inputs', () => Promise.reject(new RangeError('no')))).rejects.toThrow('no');
  expect(spans).toEqual([
    {
      name: 'orrery.plan',
      attributes: { 'orrery.n': 1 },
      parent: undefined,
      start: undefined,
      status: 0,
      end: undefined,
    },
    { name: 'orrery.inputs', attributes: {}, parent: undefined, start: undefined, status: 2, end: undefined },
  ]);
});

test('an ended job is a span with its phases one after the other', () => {
  const record = {
    id: 'x',
    kind: 'video',
    status: 'failed',
    attempts: 2,
    requestId: 'r',
    startedAt: 1000,
    completedAt: 4000,
    timings: { phases: { text: 0.5, denoise: 2 } },
    error: { code: 'timeout' },
  } as object as JobRecord;
  openTracing().job(record);
  expect(spans.map(({ name, parent, start, end, status }) => [name, parent, start, end, status])).toEqual([
    ['orrery.job', undefined, 1000, 4000, 2],
    ['orrery.job.text', 'orrery.job', 1000, 1500, 0],
    ['orrery.job.denoise', 'orrery.job', 1500, 3500, 0],
  ]);
  expect(spans[0]?.attributes).toMatchObject({ 'orrery.job.id': 'x', 'orrery.request.id': 'r' });
  openTracing().job({ ...record, startedAt: null });
  expect(spans.length).toBe(3);
});
