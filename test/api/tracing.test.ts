// Spans of a server whose process has loaded an SDK by NODE_OPTIONS, as the documentation says.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { root } from '../architecture/source-tree.js';
import { temporaryFolder } from '../faults/fake-jobs.js';
import { postJson, small } from './requests.js';
import { startServer } from './start-server.js';

interface Span {
  readonly pid: number;
  readonly name: string;
  readonly spanId: string;
  readonly parent?: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: number;
}

test('an SDK that is preloaded gets the spans of requests and jobs, the last of them at the end', {
  timeout: 90_000,
}, async () => {
  const preload = pathToFileURL(join(root, 'test/api/tracing-preload.mjs'));
  using folder = temporaryFolder();
  const file = join(folder.path, 'spans.jsonl');
  await using server = await startServer({ env: { NODE_OPTIONS: `--import=${preload}`, SPANS_FILE: file } });
  const answer = await postJson(`${server.url}/v1/videos/sync`, small, { 'x-request-id': 'r-1' });
  expect(answer.status).toBe(200);
  await answer.arrayBuffer();
  expect((await postJson(`${server.url}/v1/videos`, { ...small, prompt: 'nsfw' })).status).toBe(400);
  expect(await server.stop()).toBe(0);
  const spans: Span[] = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const named = (name: string) => spans.filter((span) => span.name === name);
  expect(named('orrery.plan').length).toBeGreaterThan(0);
  expect(named('orrery.guardrails').map(({ status }) => status)).toEqual([0, 2]);
  const [job] = named('orrery.job');
  expect(job?.attributes).toMatchObject({ 'orrery.job.status': 'completed', 'orrery.job.kind': 'video.sync' });
  for (const phase of ['text', 'denoise', 'decode', 'write']) {
    expect(named(`orrery.job.${phase}`)).toMatchObject([{ parent: job?.spanId, pid: server.pid }]);
  }
});
