// A small client of the server, over fetch: what a browser or a script needs, typed by the protocol's schemas.
import type { JobEventMessage } from '../responses/events.js';
import type { ImageResponse } from '../responses/image.js';
import type { Job, JobDeleted, JobList, Upload } from '../responses/job.js';
import type { ModelDetails, ModelList } from '../responses/model.js';
import type { PlanReply } from '../responses/plan.js';
import type { ServerStatus } from '../responses/status.js';
import type { VideoDeleted, VideoJob, VideoList } from '../responses/video.js';
import { failureOf, type OrreryClientError, parseJson } from './client-error.js';
import { type FollowEventsOptions, followEvents } from './follow-events.js';

/** Where the server is and how to ask it. */
export interface ClientOptions {
  /** As `http://localhost:8000`. */
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly fetch?: typeof fetch | undefined;
}

/** A value of a form: objects travel as JSON. */
export type FormValue = string | number | boolean | Blob | Readonly<Record<string, unknown>>;

/** Parameters of a video by their wire names; files as Blob. */
export type VideoForm = { readonly prompt: string } & Readonly<Record<string, FormValue | undefined>>;

/** A page to list. */
export interface PageQuery {
  readonly after?: string;
  readonly limit?: number;
  readonly order?: 'asc' | 'desc';
}

/** Which jobs to list: all that fit every condition given. */
export interface JobQuery extends PageQuery {
  /** Words that must all occur in the prompt. */
  readonly q?: string;
  /** One or several, joined by commas. */
  readonly task?: string;
  /** One or several, joined by commas. */
  readonly status?: string;
  readonly kind?: string;
  /** Unix seconds, inclusive. */
  readonly created_after?: number;
  /** Unix seconds, exclusive. */
  readonly created_before?: number;
}

/** Parameters of a job by their wire names; files stand in it by `file_id`. */
export type JobForm = Readonly<Record<string, unknown>>;

/** What a call may be given besides its subject. */
export interface CallOptions {
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The server's routes as functions. Each throws OrreryClientError for a reply that is no success. */
export interface OrreryClient {
  models(): Promise<ModelList>;
  model(id: string): Promise<ModelDetails>;
  createImage(body: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<ImageResponse>;
  createVideo(form: VideoForm, options?: CallOptions): Promise<VideoJob>;
  video(id: string): Promise<VideoJob>;
  videos(query?: PageQuery): Promise<VideoList>;
  cancelVideo(id: string): Promise<VideoJob>;
  deleteVideo(id: string): Promise<VideoDeleted>;
  /** The bytes of a result. */
  content(id: string, variant?: string, signal?: AbortSignal): Promise<Blob>;
  /** Events of one job, or of all of the caller's; connects again by itself where the stream breaks off. */
  events(id?: string, options?: FollowEventsOptions): AsyncGenerator<JobEventMessage, void>;
  /** Jobs of every kind. */
  createJob(form: JobForm, options?: CallOptions): Promise<Job>;
  job(id: string, signal?: AbortSignal): Promise<Job>;
  jobs(query?: JobQuery, signal?: AbortSignal): Promise<JobList>;
  cancelJob(id: string): Promise<Job>;
  deleteJob(id: string): Promise<JobDeleted>;
  /** The bytes of a result. */
  jobContent(id: string, variant?: string, signal?: AbortSignal): Promise<Blob>;
  /** The settled plan of a job. */
  jobPlan(id: string): Promise<Readonly<Record<string, unknown>>>;
  /** Sends a file once; requests name it by its `file_id`. */
  upload(file: Blob, signal?: AbortSignal): Promise<Upload>;
  /** What a form would become, and its cost, without making a job of it. */
  plan(form: JobForm, signal?: AbortSignal): Promise<PlanReply>;
  status(signal?: AbortSignal): Promise<ServerStatus>;
}

/** Makes a client. */
export function createClient({ baseUrl, apiKey, fetch: send = globalThis.fetch }: ClientOptions): OrreryClient {
  const root = baseUrl.replace(/\/+$/, '');
  const keyHeader: Readonly<Record<string, string>> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };

  const request = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = { ...keyHeader, ...Object.fromEntries(new Headers(init.headers)) };
    const response = await send(`${root}${path}`, { ...init, headers });
    if (response.ok) return response;
    throw await readFailure(response);
  };
  const json = async <Body>(path: string, init: RequestInit = {}): Promise<Body> => {
    const body: Body = JSON.parse(await (await request(path, init)).text());
    return body;
  };
  const video = (id: string) => `/v1/videos/${encodeURIComponent(id)}`;
  const job = (id: string) => `/v1/jobs/${encodeURIComponent(id)}`;
  const post = (body: unknown, { idempotencyKey, signal }: CallOptions = {}): RequestInit => ({
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    body: JSON.stringify(body),
    ...within(signal),
  });
  const blob = async (path: string, variant: string | undefined, signal: AbortSignal | undefined) => {
    const search = variant === undefined ? '' : `?variant=${encodeURIComponent(variant)}`;
    return (await request(`${path}/content${search}`, within(signal))).blob();
  };

  return {
    models: () => json('/v1/models'),
    model: (id) => json(`/v1/models/${encodeURIComponent(id)}`),
    createImage: (body, signal) => json('/v1/images/generations', post(body, { signal })),
    createVideo: (form, { idempotencyKey, signal } = {}) =>
      json('/v1/videos', {
        method: 'POST',
        body: toFormData(form),
        headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
        ...within(signal),
      }),
    // A failed job answers with the status of its failure; its record is the body all the same.
    video: async (id) => {
      const response = await send(`${root}${video(id)}`, { headers: keyHeader });
      const text = await response.text();
      const body: VideoJob | { error: unknown } | undefined = parseJson(text);
      if (body !== undefined && 'object' in body) return body;
      throw failureOf(response.status, text);
    },
    videos: (query = {}) => json(`/v1/videos?${toSearch(query)}`),
    cancelVideo: (id) => json(`${video(id)}/cancel`, { method: 'POST' }),
    deleteVideo: (id) => json(video(id), { method: 'DELETE' }),
    content: (id, variant, signal) => blob(video(id), variant, signal),
    events: (id, options) =>
      followEvents(
        (init) => request(id === undefined ? '/v1/events' : `${job(id)}/events`, init),
        id !== undefined,
        options,
      ),
    createJob: (form, options) => json('/v1/jobs', post(form, options)),
    job: (id, signal) => json(job(id), within(signal)),
    jobs: (query = {}, signal) => json(`/v1/jobs?${toSearch(query)}`, within(signal)),
    cancelJob: (id) => json(`${job(id)}/cancel`, { method: 'POST' }),
    deleteJob: (id) => json(job(id), { method: 'DELETE' }),
    jobContent: (id, variant, signal) => blob(job(id), variant, signal),
    jobPlan: (id) => json(`${job(id)}/plan`),
    upload: (file, signal) => json('/v1/uploads', { method: 'POST', body: toFormData({ file }), ...within(signal) }),
    plan: (form, signal) => json('/v1/plan', post(form, { signal })),
    status: (signal) => json('/v1/status', within(signal)),
  };
}

function within(signal: AbortSignal | undefined): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

function toSearch(query: object): URLSearchParams {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search;
}

function toFormData(form: Readonly<Record<string, FormValue | undefined>>): FormData {
  const body = new FormData();
  for (const [name, value] of Object.entries(form)) {
    if (value === undefined) continue;
    if (value instanceof Blob) body.append(name, value, value instanceof File ? value.name : name);
    else body.append(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
  }
  return body;
}

async function readFailure(response: Response): Promise<OrreryClientError> {
  return failureOf(response.status, await response.text());
}
