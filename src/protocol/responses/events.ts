// Server-sent events of jobs: the data of each event by its name.
import Type, { type Static } from 'typebox';
import { list, numberOrNull, valueOrNull } from './nullable.js';
import { JobFailure, ProgressInfo } from './video.js';

const common = { job_id: Type.String(), at: Type.Integer({ description: 'Unix milliseconds.' }) };

/** Data of each kind of event; the event's name is the key. */
export const jobEvents = {
  status: Type.Object({
    ...common,
    status: Type.Enum(['queued', 'in_progress', 'completed', 'failed', 'cancelled']),
    attempts: Type.Integer(),
    error: valueOrNull(JobFailure, 'Why it failed.'),
  }),
  place: Type.Object({
    ...common,
    place: Type.Integer({ minimum: 1, description: 'Place in the queue, 1 is next.' }),
    seconds_left: numberOrNull('Until the job is done.'),
  }),
  progress: Type.Object({ ...common, progress: ProgressInfo }),
  preview: Type.Object({
    ...common,
    step: Type.Integer({ description: 'Finished steps of its chunk.' }),
    steps: Type.Integer(),
    image: Type.String({ description: 'A small picture as data URL, at most 320 pixels wide and 24 kB.' }),
    width: Type.Integer(),
    height: Type.Integer(),
    frame: Type.Integer({ description: 'Which frame of the result it shows.' }),
    final: Type.Boolean({ description: 'Decoded like the result itself; no further one comes.' }),
  }),
  deleted: Type.Object(common),
};

/** Name of an event. */
export type JobEventName = keyof typeof jobEvents;

/** An event as a client reads it. */
export type JobEventMessage = {
  [Name in JobEventName]: {
    readonly id: number;
    readonly event: Name;
    readonly data: Static<(typeof jobEvents)[Name]>;
  };
}[JobEventName];

/** All kinds together, for documentation. */
export const JobEventData = Type.Union(Object.values(jobEvents), { description: 'Data of an event.' });

/** Names of all kinds. */
export const jobEventNames: readonly JobEventName[] = ['status', 'place', 'progress', 'preview', 'deleted'];

/** A list of events, for documentation of streams. */
export const EventStream = list(JobEventData, 'A stream of events.');
