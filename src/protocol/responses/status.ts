// Reply of the status door: device, memory, queue, speed and failures, for a page that watches a server.
import Type, { type Static } from 'typebox';
import { flagSwitch, list, numberOrNull, textOrNull, valueOrNull } from './nullable.js';
import { ProgressInfo } from './video.js';

const counts = (description: string) => Type.Record(Type.String(), Type.Integer(), { description });

/** The server as it is now. Counters begin with its start. */
export const ServerStatus = Type.Object({
  object: Type.Literal('status'),
  version: Type.String(),
  model: Type.String(),
  started_at: Type.Integer({ description: 'Unix seconds.' }),
  uptime_s: Type.Number(),
  draining: flagSwitch('It shuts down and takes no further jobs.'),
  devices: list(
    Type.Object({
      device: Type.String({ description: 'As cpu or cuda:0.' }),
      name: Type.String({ description: 'Of the processor.' }),
      status: Type.Enum(['starting', 'idle', 'busy', 'waiting', 'stopped']),
      job_id: textOrNull("The caller's job that it runs."),
      restarts: Type.Integer(),
      last_crash: textOrNull('How its process died last.'),
      resident_bytes: Type.Number({ description: 'Memory of its process.' }),
      memory_total_bytes: numberOrNull('Memory that the device has.'),
    }),
    'Device processes.',
  ),
  host: Type.Object({
    cpu: Type.String(),
    cores: Type.Integer(),
    memory_total_bytes: Type.Number(),
    memory_free_bytes: Type.Number(),
    disk_free_bytes: numberOrNull('Where results are kept.'),
  }),
  queue: Type.Object({
    queued: Type.Integer(),
    in_progress: Type.Integer(),
    completed: Type.Integer(),
    failed: Type.Integer(),
    cancelled: Type.Integer(),
  }),
  running: list(
    Type.Object({
      id: Type.String(),
      task: textOrNull('Null until it has a plan.'),
      progress: valueOrNull(ProgressInfo, 'Null until it reports.'),
    }),
    "The caller's jobs that run.",
  ),
  steps_per_second: Type.Record(Type.String(), Type.Number(), { description: 'Of the latest job, by task.' }),
  ended: counts('Jobs that ended, by status.'),
  failures: counts('Failed jobs, by coded error.'),
  refusals: counts('Refused requests, by coded error.'),
  phase_seconds: Type.Record(Type.String(), Type.Object({ count: Type.Integer(), sum: Type.Number() }), {
    description: 'Time by phase.',
  }),
  event_streams: Type.Integer(),
});
export type ServerStatus = Static<typeof ServerStatus>;
