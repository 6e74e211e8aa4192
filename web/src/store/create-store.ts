// Makes the store: a client with the session's key, the served model, and the jobs, kept up to date by the shared stream.
import { batch, computed, type ReadonlySignal, signal } from '@preact/signals';
import {
  createClient,
  type Job,
  type JobEventMessage,
  type JobForm,
  type ModelDetails,
  OrreryClientError,
} from '../../../src/protocol/index.js';
import { Answers } from './answers.js';
import { advanceJob, describedJob, isOver, needsLook } from './job-states.js';
import { followJobs } from './live-events.js';
import { openSettings } from './settings.js';
import { createToasts } from './toasts.js';
import type { Again, Connection, JobState, Store } from './types.js';

/** Where the server is, and where things are kept. */
export interface StoreOptions {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** Ends with the tab: the key lies here. */
  readonly session: Storage;
  readonly local: Storage;
  /** Shows the form. */
  readonly showForm: () => void;
}

const keyName = 'orrery.key';
const mineName = 'orrery.mine';
const mostMine = 50;

/** Opens the store and its line to the server. */
export function createStore({ baseUrl, session, local, showForm }: StoreOptions): Store {
  const model = signal<ModelDetails | null>(null);
  const connection = signal<Connection>('connecting');
  const jobs = signal<ReadonlyMap<string, JobState>>(new Map());
  const resyncs = signal(0);
  const mine = signal<readonly string[]>(readList(session.getItem(mineName)));
  const pendingAgain = signal<Again | null>(null);
  const pendingPicture = signal<File | null>(null);
  const listeners = new Set<(message: JobEventMessage) => void>();
  const views = new Map<string, ReadonlySignal<JobState | undefined>>();
  const looks = new Map<string, Promise<JobState>>();
  const answers = new Answers();
  let key = session.getItem(keyName) ?? undefined;
  let client = createClient({ baseUrl, apiKey: key });
  let hangUp: () => void = () => undefined;

  const forget = (id: string) => {
    if (!jobs.value.has(id)) return;
    const next = new Map(jobs.value);
    next.delete(id);
    jobs.value = next;
  };
  /** One question at a time for each job. An answer that the job's status has overtaken is asked for again. */
  const load = (id: string): Promise<JobState> => {
    const asked = looks.get(id);
    if (asked) return asked;
    const read = async (): Promise<Job> => {
      const isOld = answers.ask();
      const record = await client.job(id);
      return isOld(id) ? read() : record;
    };
    const look = read()
      .then((record) => {
        const state = describedJob(record, jobs.value.get(id));
        jobs.value = new Map(jobs.value).set(id, state);
        return state;
      })
      .catch((error: unknown) => {
        if (error instanceof OrreryClientError && error.status === 404) forget(id);
        throw error;
      })
      .finally(() => looks.delete(id));
    looks.set(id, look);
    return look;
  };
  const lookQuietly = (id: string) => void load(id).catch(() => undefined);

  /** Puts what an answer says of jobs into the map; where it is old it is asked for again. */
  const take = (records: readonly Job[], isOld: (id: string) => boolean) => {
    const next = new Map(jobs.value);
    for (const record of records) {
      if (isOld(record.id)) lookQuietly(record.id);
      else next.set(record.id, describedJob(record, next.get(record.id)));
    }
    jobs.value = next;
  };

  const hear = (message: JobEventMessage) => {
    const { job_id: id } = message.data;
    const before = jobs.value.get(id);
    if (message.event === 'status') answers.hear(id);
    batch(() => {
      if (before) {
        const after = advanceJob(before, message);
        if (after === undefined) forget(id);
        else if (after !== before) jobs.value = new Map(jobs.value).set(id, after);
      }
      for (const listener of listeners) listener(message);
    });
    if (message.event !== 'deleted' && (before === undefined || needsLook(message))) lookQuietly(id);
  };
  let isCatchingUp = false;
  let mustCatchUpAgain = false;
  /** Looks up what happened while the line was down; asked again meanwhile, it looks once more. */
  const catchUp = async () => {
    mustCatchUpAgain = isCatchingUp;
    if (isCatchingUp) return;
    isCatchingUp = true;
    try {
      if (model.value === null) model.value = await readModel(client);
      const unfinished = [...jobs.value.values()]
        .filter(({ record }) => !isOver(record))
        .map(({ record }) => record.id);
      const isOld = answers.ask();
      const { data } = await client.jobs({ limit: 50 });
      take(data, isOld);
      const listed = new Set(data.map(({ id }) => id));
      for (const id of unfinished) if (!listed.has(id)) lookQuietly(id);
      resyncs.value += 1;
    } catch (error) {
      if (error instanceof OrreryClientError && error.status === 401) connection.value = 'locked';
    } finally {
      isCatchingUp = false;
    }
    if (mustCatchUpAgain) await catchUp();
  };
  const connect = () => {
    hangUp();
    connection.value = 'connecting';
    hangUp = followJobs({
      client,
      scope: scopeOf(`${baseUrl} ${key ?? ''}`),
      onMessage: hear,
      onConnection: (next, isFresh) => {
        connection.value = next;
        if (isFresh || model.value === null) void catchUp();
      },
    });
    // Another tab may lead and stay silent for a while.
    void catchUp();
  };
  const request = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (key !== undefined) headers.set('authorization', `Bearer ${key}`);
    const response = await fetch(`${baseUrl}${path}`, { ...init, headers });
    if (response.ok) return response;
    throw new OrreryClientError(response.status, '', null, (await response.text()).slice(0, 200));
  };
  connect();

  return {
    get client() {
      return client;
    },
    request,
    json: async <Body>(path: string, init?: RequestInit) => {
      const body: Body = JSON.parse(await (await request(path, init)).text());
      return body;
    },
    model,
    connection,
    setKey: (next) => {
      key = next;
      session.setItem(keyName, next);
      client = createClient({ baseUrl, apiKey: next });
      jobs.value = new Map();
      model.value = null;
      connect();
    },
    jobs,
    job: (id) => {
      const known = views.get(id) ?? computed(() => jobs.value.get(id));
      views.set(id, known);
      return known;
    },
    load,
    onEvent: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    resyncs,
    mine,
    submit: async (form) => {
      const isOld = answers.ask();
      const record = await sendPatiently(() => client, form);
      take([record], isOld);
      mine.value = [record.id, ...mine.value].slice(0, mostMine);
      session.setItem(mineName, JSON.stringify(mine.value));
      return record;
    },
    cancel: async (id) => {
      const isOld = answers.ask();
      take([await client.cancelJob(id)], isOld);
    },
    remove: async (id) => {
      await client.deleteJob(id);
      forget(id);
    },
    toasts: createToasts(),
    settings: openSettings(local),
    pendingPicture,
    begin: (picture) => {
      pendingPicture.value = picture;
      showForm();
    },
    pendingAgain,
    again: (job, focus) => {
      pendingAgain.value = { job, focus };
      showForm();
    },
  };
}

async function readModel(client: Store['client']): Promise<ModelDetails | null> {
  const [first] = (await client.models()).data;
  return first === undefined ? null : client.model(first.id);
}

const patienceMs = 60_000;

/** The key of idempotency makes a repeated request harmless: a server that restarts in between makes the job once. */
async function sendPatiently(client: () => Store['client'], form: JobForm): Promise<Job> {
  const idempotencyKey = [...crypto.getRandomValues(new Uint32Array(4))].map((word) => word.toString(36)).join('');
  const end = Date.now() + patienceMs;
  for (let pause = 500; ; pause = Math.min(5000, pause * 2)) {
    try {
      return await client().createJob(form, { idempotencyKey });
    } catch (error) {
      const mayPass = error instanceof TypeError || (error instanceof OrreryClientError && error.status === 503);
      if (!mayPass || Date.now() > end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

function readList(text: string | null): readonly string[] {
  try {
    const list: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(list) ? list.filter((id): id is string => typeof id === 'string') : [];
  } catch {
    return [];
  }
}

/** A short name for a text, so that a channel's name does not hold the key. FNV-1a, 32 bits. */
function scopeOf(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(36);
}
