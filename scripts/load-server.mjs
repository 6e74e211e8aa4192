// Holds a server under load while its device works: answers stay quick, a long queue stays in order, many streams stay open.
//   node scripts/load-server.mjs        prints a row for each check; fails when one is beyond its limit
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const folder = mkdtempSync(join(tmpdir(), 'orrery-load-'));
const failures = [];

function check(name, value, limit, unit) {
  const isGood = value <= limit;
  console.log(`${isGood ? 'ok  ' : 'FAIL'}  ${name.padEnd(46)} ${String(value).padStart(8)} ${unit} (limit ${limit})`);
  if (!isGood) failures.push(name);
}

execFileSync(process.execPath, [join(root, 'scripts/build.mjs'), '--transpile'], { stdio: 'inherit' });
const began = performance.now();
const child = spawn(
  process.execPath,
  [
    ...[join(root, 'dist/cli/main.js'), 'serve', '--port', '0', '--storage-path', join(folder, 'store')],
    ...['--max-queue', '1500', '--drain-timeout', '0'],
  ],
  { stdio: ['ignore', 'ignore', 'pipe'] },
);
let log = '';
child.stderr.setEncoding('utf8').on('data', (text) => {
  log += text;
});

async function until(find, limitMs) {
  const end = Date.now() + limitMs;
  for (;;) {
    const found = await find();
    if (found) return found;
    if (child.exitCode !== null || Date.now() > end) throw new Error(`gave up waiting:\n${log.slice(-2000)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const small = { prompt: 'A red ball.', size: '64x64', num_frames: 5, num_inference_steps: 2, guidance_scale: 1 };
const long = { ...small, size: '256x256', num_frames: 61, num_inference_steps: 200 };

try {
  const url = await until(() => /"url":"([^"]+)"/.exec(log)?.[1], 60_000);
  const post = async (path, body) => {
    const reply = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
    return reply.json();
  };
  const get = async (path) => (await fetch(url + path)).json();

  // With everything as it is where nothing is said.
  await post('/v1/images/generations', { prompt: 'A red ball on a white floor.' });
  check('serve to the first picture', Math.round(performance.now() - began) / 1000, 10, 's');

  const { id: busy } = await post('/v1/videos', long);
  await until(async () => (await get(`/v1/videos/${busy}`)).progress_detail?.step > 0, 60_000);

  const press = async (name, path, options = {}) => {
    const result = await autocannon({ url: url + path, connections: 8, duration: 5, ...options });
    if (result.non2xx > 0 || result.errors > 0)
      failures.push(`${name}: ${result.non2xx} refused, ${result.errors} broken`);
    check(`${name}, p99 (${Math.round(result.requests.average)}/s)`, result.latency.p99, options.limit ?? 25, 'ms');
  };
  await autocannon({ url: `${url}/health`, connections: 8, duration: 1 });
  // A rate that clients ask at, not the most that can be had: the device has the other core.
  await press('GET /health', '/health', { overallRate: 200 });
  await press('GET /v1/models', '/v1/models', { overallRate: 200 });
  await press('GET /v1/videos/{id} while it runs', `/v1/videos/${busy}`, { overallRate: 200 });
  await press('POST /v1/videos', '/v1/videos', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(small),
    overallRate: 40,
    connections: 4,
    limit: 100,
  });

  const already = (await get('/ready')).queue.queued;
  for (let queued = already; queued < 1000; queued++) await post('/v1/videos', { ...small, seed: queued });
  const listed = [];
  let slowest = 0;
  for (let after = ''; ; ) {
    const start = performance.now();
    const page = await get(`/v1/videos?limit=100&order=asc&after=${after}`);
    slowest = Math.max(slowest, performance.now() - start);
    listed.push(...page.data);
    if (!page.has_more) break;
    after = page.last_id;
  }
  const places = listed.filter(({ status }) => status === 'queued').map(({ queue_place: place }) => place);
  const isInOrder = places.every((place, i) => i === 0 || place === places[i - 1] + 1);
  check('1000 waiting jobs, out of order', isInOrder && places.length >= 1000 ? 0 : 1, 0, '');
  check('slowest page of 100', Math.round(slowest), 250, 'ms');
  await press('GET /v1/videos/{id} with 1000 waiting', `/v1/videos/${busy}`, { overallRate: 100 });

  const stop = new AbortController();
  let events = 0;
  const streams = await Promise.all(
    Array.from({ length: 200 }, () => fetch(`${url}/v1/videos/${busy}/events`, { signal: stop.signal })),
  );
  for (const { body } of streams) {
    (async () => {
      for await (const piece of body) events += Buffer.from(piece).toString().split('event: progress').length - 1;
    })().catch(() => undefined);
  }
  await new Promise((resolve) => setTimeout(resolve, 5000));
  check('streams of 200 without an event in 5 s', Math.max(0, 200 - events), 0, '');
  await press('GET /v1/videos/{id} with 200 streams', `/v1/videos/${busy}`, { overallRate: 100 });
  stop.abort();
} finally {
  child.kill();
  await new Promise((resolve) => (child.exitCode === null ? child.once('exit', resolve) : resolve()));
  rmSync(folder, { recursive: true, force: true });
}
if (failures.length > 0) {
  console.error(`beyond the limits: ${failures.join('; ')}`);
  process.exitCode = 1;
}
