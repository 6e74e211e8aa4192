#!/usr/bin/env node
// Makes docs/observatory/: screenshots of the page, light and dark, desktop and phone, and the figures measured beside them.
//   node scripts/observatory-pictures.mjs             pictures and figures (three minutes)
//   node scripts/observatory-pictures.mjs --pictures  pictures alone
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import sharp from 'sharp';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const target = join(root, 'docs/observatory');
const desktop = { width: 1280, height: 800 };
const phone = { width: 390, height: 780 };
const played = 200;

execFileSync(process.execPath, [join(root, 'scripts/build.mjs'), '--transpile', '--web'], { stdio: 'inherit' });
const folder = mkdtempSync(join(tmpdir(), 'orrery-observatory-'));
const server = spawn(
  process.execPath,
  [join(root, 'dist/cli/main.js'), 'serve', '--port', '0', '--storage-path', join(folder, 'store')],
  { stdio: ['ignore', 'pipe', 'pipe'] },
);
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--autoplay-policy=no-user-gesture-required'],
});
try {
  const url = await addressOf(server);
  mkdirSync(target, { recursive: true });
  const jobs = await makeJobs(url);
  const pictures = await takePictures(url, jobs);
  const figures = process.argv.includes('--pictures') ? null : await measure(url, jobs);
  writePage(pictures, figures);
} finally {
  await browser.close();
  server.kill();
  rmSync(folder, { recursive: true, force: true });
}

/** The address that the server says in its log, once its device is ready. */
function addressOf(child) {
  return new Promise((resolve, reject) => {
    let url;
    child.once('exit', () => reject(new Error('the server did not come up')));
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        const { msg, url: address } = line.startsWith('{') ? JSON.parse(line) : {};
        if (msg === 'server listens') url = address;
        if (msg === 'device is ready') resolve(url);
      });
    }
  });
}

async function post(url, path, body) {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(`${url}${path}`, init);
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

/** Waits for a job. */
async function done(url, id) {
  for (;;) {
    const job = await (await fetch(`${url}/v1/jobs/${id}`)).json();
    if (job.status === 'completed') return job;
    if (job.status === 'failed' || job.status === 'cancelled') throw new Error(JSON.stringify(job.error));
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** What the pictures show: one result of each kind. */
async function makeJobs(url) {
  const make = async (prompt, extra = {}, fields = {}) => {
    const { id } = await post(url, '/v1/jobs', { prompt, seed: 5, ...fields, extra_params: extra });
    return done(url, id);
  };
  const picture = await make('A red ball on a grey floor.', { task: 'text-to-image' });
  const sheet = [
    'A green square in the middle.',
    'A blue ball on a white floor.',
    'A yellow triangle.',
    'A purple ball.',
  ];
  for (const prompt of sheet) await make(prompt, { task: 'text-to-image' });
  const image = { image_reference: { file_id: await uploadResult(url, picture, 'image') } };
  const clip = await make('A red ball rolls to the right.', { task: 'image-to-video' }, image);
  const other = await make('A red ball rolls to the left.', { task: 'image-to-video' }, image);
  const video = { video_reference: { file_id: await uploadResult(url, clip, 'video') } };
  const transfer = await make('A blue ball rolls to the right.', { task: 'transfer', edge: true }, video);
  const sound = await make('A ball bounces on the floor.', { task: 'text-to-video' }, { generate_sound: true });
  const robot = { task: 'policy', domain_name: 'bridge_orig_lerobot', raw_action_dim: 10 };
  const policy = await make('Put the red ball into the ring.', robot, image);
  return { picture, clip, other, transfer, sound, policy };
}

async function uploadResult(url, { id }, variant) {
  const content = await (await fetch(`${url}/v1/jobs/${id}/content?variant=${variant}`)).blob();
  const form = new FormData();
  form.append('file', content, variant === 'image' ? 'ball.png' : 'ball.mp4');
  const response = await fetch(`${url}/v1/uploads`, { method: 'POST', body: form });
  return (await response.json()).file_id;
}

async function openView(url, view, options) {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  await page.goto(`${url}/#/${view}`);
  await page.locator('main h1').waitFor({ state: 'attached' });
  await page.locator('main .spinner').waitFor({ state: 'detached' });
  return { page, context };
}

async function takePictures(url, { clip, other, transfer, policy, sound }) {
  const taken = [];
  const take = async (name, words, view, options, prepare = async () => undefined) => {
    const { page, context } = await openView(url, view, options);
    await prepare(page);
    await page.waitForTimeout(700);
    const { data, info } = await sharp(await page.screenshot())
      .webp({ quality: 70, effort: 6 })
      .toBuffer({ resolveWithObject: true });
    writeFileSync(join(target, `${name}.webp`), data);
    taken.push({ name, words, bytes: info.size });
    await context.close();
  };
  const light = { viewport: desktop, colorScheme: 'light' };
  const dark = { viewport: desktop, colorScheme: 'dark' };
  const onPhone = (colorScheme) => ({
    viewport: phone,
    colorScheme,
    hasTouch: true,
    isMobile: true,
    deviceScaleFactor: 1,
  });
  // A frame in the middle of a clip, by the player's own keys, so that all that is in step goes along.
  const stepTo = async (page, frame) => {
    for (let step = 0; step < frame; step++) await page.keyboard.press('ArrowRight');
  };
  const watchOne = async (page) => {
    await page.locator('[data-field=task] select').selectOption({ label: 'Clip' });
    await page.locator('[data-field=prompt] textarea').fill('A red ball rolls to the right.');
    await page.getByRole('button', { name: 'Make it' }).click();
    await page.locator('.watch-card img[src^="data:image/webp"]').first().waitFor();
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await page.locator('.watch-card', { hasText: /Step ([4-9]|1\d)/ }).waitFor();
    await page.evaluate('scrollTo(0, 0)');
  };
  await take(
    'make-light',
    'Make: the form, its cost while it is typed, and a clip that grows from noise',
    'make',
    light,
    watchOne,
  );
  await take('result-dark', 'See: a clip that begins with a picture', `jobs/${clip.id}`, dark, (page) =>
    stepTo(page, 12),
  );
  await take(
    'transfer-light',
    'See: output, input and the edges that the server made of it, in step',
    `jobs/${transfer.id}`,
    light,
    (page) => stepTo(page, 9),
  );
  await take(
    'transfer-wipe-dark',
    'See: the output over its edges, with a line that is moved',
    `jobs/${transfer.id}`,
    dark,
    async (page) => {
      await page.getByRole('radio', { name: 'Wipe: Edges' }).check({ force: true });
      await page.evaluate('document.activeElement.blur()');
      await stepTo(page, 12);
      await page.locator('.see-wipe').click({ position: { x: 560, y: 200 } });
    },
  );
  await take(
    'robot-dark',
    'See: the actions of a robot with the frame under the cursor',
    `jobs/${policy.id}`,
    dark,
    async (page) => {
      await stepTo(page, 12);
      await page.evaluate(`scrollTo(0, document.querySelector('#see-actions').getBoundingClientRect().top - 90)`);
    },
  );
  await take(
    'compare-light',
    'Compare: two results side by side, synchronised',
    `compare/${clip.id}/${other.id}`,
    light,
    (page) => stepTo(page, 12),
  );
  await take('gallery-dark', 'Keep: everything that the server has made', 'gallery', dark);
  await take('status-light', 'Operate: the server, with its course', 'status', light, (page) =>
    page.waitForTimeout(6500),
  );
  await take('make-phone-dark', 'Make on a phone', 'make', onPhone('dark'));
  await take('result-phone-light', 'A clip with sound on a phone', `jobs/${sound.id}`, onPhone('light'), (page) =>
    stepTo(page, 12),
  );
  return taken;
}

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** First paint, movement while previews arrive, memory over many results. */
async function measure(url, jobs) {
  const paints = { cold: [], warm: [] };
  for (let round = 0; round < 5; round++) {
    const context = await browser.newContext({ viewport: desktop });
    for (const kind of ['cold', 'warm']) {
      const page = await context.newPage();
      await page.goto(url);
      await page.locator('textarea').waitFor();
      paints[kind].push(await page.evaluate(`performance.getEntriesByName('first-contentful-paint')[0].startTime`));
      await page.close();
    }
    await context.close();
  }
  const shift = await measureShift(url);
  const memory = await measureMemory(url, jobs);
  return { firstPaintColdMs: median(paints.cold), firstPaintWarmMs: median(paints.warm), ...shift, ...memory };
}

async function measureShift(url) {
  const { id } = await post(url, '/v1/jobs', {
    prompt: 'A red ball rolls.',
    seed: 1,
    extra_params: { task: 'text-to-video' },
  });
  const { page, context } = await openView(url, `jobs/${id}`, { viewport: desktop });
  await page.evaluate(`
    window.shift = 0; window.pictures = new Set();
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.shift += entry.value; }).observe({ type: 'layout-shift' });
    new MutationObserver(() => { const image = document.querySelector('main figure img'); if (image) window.pictures.add(image.src); })
      .observe(document.querySelector('main'), { subtree: true, childList: true, attributes: true });
  `);
  while ((await (await fetch(`${url}/v1/jobs/${id}`)).json()).status !== 'completed') await page.waitForTimeout(200);
  const found = {
    layoutShift: await page.evaluate('window.shift'),
    previews: await page.evaluate('window.pictures.size'),
  };
  await context.close();
  return found;
}

/** Opens and plays results one after the other; measured after collecting garbage. */
async function measureMemory(url, { clip, other, transfer, sound, policy }) {
  const ids = [clip, other, transfer, sound, policy].map(({ id }) => id);
  const { page, context } = await openView(url, 'gallery', { viewport: desktop });
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable');
  const look = async () => {
    await page.goto(`${url}/#/make`);
    await page.waitForTimeout(300);
    await session.send('HeapProfiler.collectGarbage');
    const { metrics } = await session.send('Performance.getMetrics');
    const of = (name) => metrics.find((metric) => metric.name === name)?.value ?? 0;
    return { heap: of('JSHeapUsedSize'), nodes: of('Nodes'), resident: await rendererMemory() };
  };
  let early;
  for (let i = 0; i < played; i++) {
    if (i === 20) early = await look();
    await page.goto(`${url}/#/jobs/${ids[i % ids.length]}`);
    const video = page.locator('main video').first();
    await video.waitFor();
    await page.evaluate(
      `(async () => { const video = document.querySelector('main video'); video.muted = true; await video.play().catch(() => undefined); })()`,
    );
    await page.waitForTimeout(150);
  }
  const late = await look();
  await context.close();
  return { played, early, late };
}

/** Resident bytes of the largest renderer of this browser: the page's own. */
async function rendererMemory() {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const renderers = processInfo.filter(({ type }) => type === 'renderer');
  const residents = renderers.map(({ id }) => /VmRSS:\s+(\d+)/.exec(readOr(`/proc/${id}/status`))?.[1] ?? 0);
  return Math.max(...residents.map((kilobytes) => Number(kilobytes) * 1024));
}

function writePage(pictures, figures) {
  const total = pictures.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total > 400_000) throw new Error(`the pictures have ${total} bytes, the limit is 400000`);
  const page = join(target, 'README.md');
  const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
  const rows = figures && [
    ['First paint, nothing cached', `${figures.firstPaintColdMs.toFixed(0)} ms`],
    ['First paint, files cached', `${figures.firstPaintWarmMs.toFixed(0)} ms`],
    [`Layout shift while ${figures.previews} previews arrive`, figures.layoutShift.toFixed(4)],
    [
      `Script memory after 20 and ${figures.played} results played`,
      `${megabytes(figures.early.heap)}, ${megabytes(figures.late.heap)}`,
    ],
    [`Nodes after 20 and ${figures.played} results played`, `${figures.early.nodes}, ${figures.late.nodes}`],
    [
      `Process memory after 20 and ${figures.played} results played`,
      `${megabytes(figures.early.resident)}, ${megabytes(figures.late.resident)}`,
    ],
  ];
  const kept = figures === null ? (/## Figures[\s\S]*/.exec(readOr(page))?.[0] ?? '') : undefined;
  const measured =
    kept ??
    `## Figures\n\nMeasured by the same command on loopback, medians of five where a time is given.\n\n| | |\n|---|---|\n${rows.map(([what, value]) => `| ${what} | ${value} |`).join('\n')}\n`;
  const shown = pictures.map(({ name, words }) => `### ${words}\n\n![${words}](${name}.webp)\n`).join('\n');
  writeFileSync(
    page,
    `# The Observatory\n\nThe page that \`orrery serve\` answers \`/\` with. Made by \`node scripts/observatory-pictures.mjs\` with the checkpoint of the package.\n\n${shown}\n${measured}`,
  );
  console.log(`${pictures.length} pictures, ${total} bytes`);
  if (figures) console.log(JSON.stringify(figures, null, 2));
}

function readOr(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
