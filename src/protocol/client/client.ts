// A small client of the server, over fetch: what a browser or a script needs, typed by the protocol's schemas.
import type { JobEventMessage } from '../responses/events.js';
import { jobEventNames } from '../responses/events.js';
import type { ImageResponse } from '../responses/image.js';
import type { ModelDetails, ModelList } from '../responses/model.js';
import type { VideoDeleted, VideoJob, VideoList } from '../responses/video.js';
import { readEvents } from './read-events.js';

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

/** A reply that was no success. */
export class OrreryClientError extends Error {
  override readonly name = 'OrreryClientError';

  /** @param reason coded error of the server, as invalid_value; empty where the reply had none */
  constructor(
    readonly status: number,
    readonly reason: string,
    readonly param: string | null,
    message: string,
  ) {
    super(message);
  }
}

/** The server's routes as functions. Each throws OrreryClientError for a reply that is no success. */
export interface OrreryClient {
  models(): Promise<ModelList>;
  model(id: string): Promise<ModelDetails>;
  createImage(body: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<ImageResponse>;
  createVideo(form: VideoForm, options?: { idempotencyKey?: string; signal?: AbortSignal }): Promise<VideoJob>;
  video(id: string): Promise<VideoJob>;
  videos(query?: PageQuery): Promise<VideoList>;
  cancelVideo(id: string): Promise<VideoJob>;
  deleteVideo(id: string): Promise<VideoDeleted>;
  /** The bytes of a result. */
  content(id: string, variant?: string, signal?: AbortSignal): Promise<Blob>;
  /** Events of one job, or of all of the caller's; connects again by itself where the stream breaks off. */
  events(id?: string, options?: { signal?: AbortSignal }): AsyncGenerator<JobEventMessage, void>;
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
  const job = (id: string) => `/v1/videos/${encodeURIComponent(id)}`;

  return {
    models: () => json('/v1/models'),
    model: (id) => json(`/v1/models/${encodeURIComponent(id)}`),
    createImage: (body, signal) =>
      json('/v1/images/generations', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        ...(signal === undefined ? {} : { signal }),
      }),
    createVideo: (form, { idempotencyKey, signal } = {}) =>
      json('/v1/videos', {
        method: 'POST',
        body: toFormData(form),
        headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
        ...(signal === undefined ? {} : { signal }),
      }),
    // A failed job answers with the status of its failure; its record is the body all the same.
    video: async (id) => {
      const response = await send(`${root}${job(id)}`, { headers: keyHeader });
      const text = await response.text();
      const body: VideoJob | { error: unknown } | undefined = parse(text);
      if (body !== undefined && 'object' in body) return body;
      throw failureOf(response.status, text);
    },
    videos: (query = {}) => {
      const search = new URLSearchParams();
      for (const [name, value] of Object.entries(query)) search.set(name, String(value));
      return json(`/v1/videos?${search}`);
    },
    cancelVideo: (id) => json(`${job(id)}/cancel`, { method: 'POST' }),
    deleteVideo: (id) => json(job(id), { method: 'DELETE' }),
    content: async (id, variant, signal) => {
      const search = variant === undefined ? '' : `?variant=${encodeURIComponent(variant)}`;
      return (await request(`${job(id)}/content${search}`, signal === undefined ? {} : { signal })).blob();
    },
    events: (id, { signal } = {}) =>
      followEvents(request, id === undefined ? '/v1/events' : `${job(id)}/events`, signal),
  };
}

async function* followEvents(
  request: (path: string, init: RequestInit) => Promise<Response>,
  path: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<JobEventMessage, void> {
  const isOfAll = path === '/v1/events';
  let last: string | undefined;
  while (signal?.aborted !== true) {
    const response = await request(path, {
      headers: { accept: 'text/event-stream', ...(last === undefined ? {} : { 'last-event-id': last }) },
      ...(signal === undefined ? {} : { signal }),
    });
    try {
      for await (const { id, event, data } of readEvents(streamOf(response))) {
        last = id;
        const message = toMessage(id, event, data);
        if (message === undefined) continue;
        yield message;
        if (!isOfAll && isLast(message)) return;
      }
      if (!isOfAll) return;
    } catch (error) {
      if (signal?.aborted) return;
      if (!(error instanceof TypeError)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

/** Browsers do not all iterate a body; its reader they all have. */
async function* streamOf(response: Response): AsyncGenerator<Uint8Array, void> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function toMessage(id: string, event: string, data: string): JobEventMessage | undefined {
  const name = jobEventNames.find((known) => known === event);
  if (name === undefined) return undefined;
  const message: JobEventMessage = { id: Number(id), event: name, data: JSON.parse(data) };
  return message;
}

function isLast({ event, data }: JobEventMessage): boolean {
  if (event === 'deleted') return true;
  return event === 'status' && ['completed', 'failed', 'cancelled'].includes(data.status);
}

function toFormData(form: VideoForm): FormData {
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

function failureOf(status: number, text: string): OrreryClientError {
  const body: { error?: { message?: string; reason?: string; param?: string | null } } | undefined = parse(text);
  const { message = text.slice(0, 200), reason = '', param = null } = body?.error ?? {};
  return new OrreryClientError(status, reason, param, message || `the server answered ${status}`);
}

function parse<Body>(text: string): Body | undefined {
  try {
    const body: Body = JSON.parse(text);
    return body;
  } catch {
    return undefined;
  }
}
