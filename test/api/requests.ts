// Requests of the API suite: a clip that takes moments, replies read, jobs awaited.
import { Value } from 'typebox/value';
import { expect } from 'vitest';
import { createClient, ErrorBody, type VideoJob } from '../../src/protocol/index.js';

/** A clip that takes moments. */
export const small = {
  prompt: 'A red ball rolls.',
  size: '64x64',
  num_frames: 5,
  fps: 8,
  num_inference_steps: 2,
  guidance_scale: 1,
  seed: 7,
};

/** Sends a JSON body. */
export function postJson(
  address: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

/** A reply's JSON. */
export async function readJson<Body>(response: Response): Promise<Body> {
  const body: Body = JSON.parse(await response.text());
  return body;
}

/** The job once it has ended. */
export async function finishedJob(url: string, id: string): Promise<VideoJob> {
  const client = createClient({ baseUrl: url });
  for (;;) {
    const job = await client.video(id);
    if (!['queued', 'in_progress'].includes(job.status)) return job;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The error of a reply, whose body must have both of its forms. */
export async function readFailure(response: Response) {
  const body: unknown = await response.json();
  expect(Value.Check(ErrorBody, body), JSON.stringify(body)).toBe(true);
  if (!Value.Check(ErrorBody, body)) throw new Error('unreachable');
  expect(body.detail).toBe(body.error.message);
  expect(body.error.code).toBe(response.status);
  return { status: response.status, ...body.error };
}
