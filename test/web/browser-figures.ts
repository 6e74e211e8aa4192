// Figures of the page in the same browser: how soon it is painted, that nothing moves while pictures grow, what it keeps of results that were looked at.
import { gzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createClient } from '../../src/protocol/index.js';
import { launchBrowser, openPage } from './browser.js';
import { finished, makeJobs } from './make-jobs.js';

const url = inject('serverUrl');
const played = 200;
let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

test('the first paint comes within 500 ms, with nothing cached', async () => {
  // The best of some: what else the machine does is not the page's.
  const paints: number[] = [];
  while (paints.length < 8 && !(Math.min(...paints) < 500)) {
    const { page, context } = await openPage(browser, url);
    await page.locator('textarea').waitFor();
    paints.push(await page.evaluate(`performance.getEntriesByName('first-contentful-paint')[0].startTime`));
    await context.close();
  }
  expect(Math.min(...paints)).toBeLessThan(500);
});

test('all scripts of all views have less than 150 kB gzipped, and none is asked for twice', async () => {
  const { picture } = await makeJobs(url);
  const { page, context, faults } = await openPage(browser, url);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  for (const view of ['make', 'gallery', 'status', 'compare', `jobs/${picture.id}`]) {
    await page.evaluate(`location.hash = '#/${view}'`);
    await page.locator('main h1').first().waitFor({ state: 'attached' });
    await page.locator('main .spinner').waitFor({ state: 'detached' });
  }
  const parts = asked.filter((address) => address.endsWith('.js'));
  expect(new Set(parts).size).toBe(parts.length);
  const loaded = await page.evaluate<string[]>(
    `performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.endsWith('.js'))`,
  );
  expect(loaded.length).toBeGreaterThanOrEqual(4);
  const sizes = await Promise.all(
    loaded.map(async (address) => gzipSync(Buffer.from(await (await fetch(address)).arrayBuffer())).length),
  );
  const total = sizes.reduce((sum, size) => sum + size, 0);
  expect(total).toBeGreaterThan(50_000);
  expect(total).toBeLessThan(150_000);
  expect(faults).toEqual([]);
  await context.close();
});

test('nothing moves from the first preview to the result', async () => {
  const client = createClient({ baseUrl: url });
  const { page, context, faults } = await openPage(browser, `${url}/#/make`);
  await page.locator('textarea').waitFor();
  // Looked at from before the job begins: the first previews of a small clip may be there before its view is.
  await page.evaluate(`
    window.moved = 0;
    window.pictures = new Set();
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.moved += entry.value; }).observe({ type: 'layout-shift' });
    new MutationObserver(() => {
      const image = document.querySelector('main figure img[src^="data:image/webp"]');
      if (image) window.pictures.add(image.src);
    }).observe(document.body, { subtree: true, childList: true, attributes: true });
  `);
  const form = { prompt: 'A ball that grows.', size: '128x128', num_frames: 17, num_inference_steps: 60 };
  const { id } = await client.createJob({ ...form, extra_params: { task: 'text-to-video' } });
  await page.evaluate(`location.hash = '#/jobs/${id}'`);
  await page.locator('main h1').waitFor();
  await page.evaluate('window.moved = 0');
  await finished(client, id);
  await page.locator('main video').waitFor();
  await page.waitForTimeout(500);
  expect(await page.evaluate('window.pictures.size')).toBeGreaterThanOrEqual(2);
  expect(await page.evaluate('window.moved')).toBe(0);
  expect(faults).toEqual([]);
  await context.close();
});

test(`memory stays flat over ${played} results played`, { timeout: 150_000 }, async () => {
  const { clip, other, transfer, policy } = await makeJobs(url);
  const { page, context, faults } = await openPage(browser, `${url}/#/make`);
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable');
  const look = async () => {
    await page.evaluate(`location.hash = '#/make'`);
    await page.locator('textarea').waitFor();
    await page.waitForTimeout(200);
    await session.send('HeapProfiler.collectGarbage');
    const { metrics } = await session.send('Performance.getMetrics');
    const of = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? 0;
    return { heap: of('JSHeapUsedSize'), nodes: of('Nodes'), listeners: of('JSEventListeners') };
  };
  const play = async (place: number) => {
    const { id } = [clip, other, transfer, policy][place % 4] ?? clip;
    await page.evaluate(`location.hash = '#/jobs/${id}'`);
    await page.locator(`main video[src*="${id}"]`).first().waitFor();
    await page.evaluate(`document.querySelector('main video').play().catch(() => undefined)`);
  };
  for (let place = 0; place < 20; place++) await play(place);
  const early = await look();
  for (let place = 20; place < played; place++) await play(place);
  const late = await look();
  expect(late.heap - early.heap).toBeLessThan(2 * 2 ** 20);
  expect(Math.abs(late.nodes - early.nodes)).toBeLessThan(50);
  expect(Math.abs(late.listeners - early.listeners)).toBeLessThan(50);
  expect(faults).toEqual([]);
  await context.close();
});
