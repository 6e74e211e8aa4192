// Watch: cancel, several tabs, a line that breaks, a server that starts again.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { startServer } from '../api/start-server.js';
import { launchBrowser, openPage, openTab } from './browser.js';
import { card, expectText, fillForm, make } from './form.js';

const url = inject('serverUrl');
let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

/** Long enough to be interrupted. */
const long = { prompt: 'A long clip of a green ball.', task: 'Clip', frames: 25, steps: 100, side: 128 } as const;

test('a job is cancelled in the middle, in a box that does not move', async () => {
  const { page, context, faults } = await openPage(browser, url);
  await fillForm(page, long);
  const id = await make(page);
  await page.goto(`${url}/#/jobs/${id}`);
  await expectText(page.locator('.watch-state'), /Step [1-9]\d* of 100/);
  await page.evaluate(`
    window.moved = 0;
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.moved += entry.value; }).observe({ type: 'layout-shift' });
  `);
  await page.locator('main figure img[src^="data:image/webp"]').waitFor();
  await expectText(page.locator('main'), /left/);
  expect(await page.title()).toMatch(/^\d+ % – Orrery$/);
  await page.waitForTimeout(1000);
  expect(await page.evaluate('window.moved')).toBe(0);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expectText(page.locator('main .notice'), /cancelled/);
  await expect.poll(() => page.title()).toBe('Orrery');
  expect(faults).toEqual([]);
  await context.close();
});

test('two tabs share one stream; closing the one that reads it leaves the other informed', async () => {
  const first = await openPage(browser, url);
  const second = await openTab(first.context, url);
  await second.page.locator('textarea').waitFor();
  await fillForm(first.page, { ...long, steps: 200 });
  const id = await make(first.page);
  await expectText(card(second.page, id), /Step [1-9]\d* of 200/);
  const status: { event_streams: number } = JSON.parse(await (await fetch(`${url}/v1/status`)).text());
  expect(status.event_streams).toBe(1);
  await first.page.close();
  const step = Number(/Step (\d+)/.exec((await card(second.page, id).textContent()) ?? '')?.[1]);
  await expect
    .poll(async () => Number(/Step (\d+)/.exec((await card(second.page, id).textContent()) ?? '')?.[1]), {
      timeout: 30_000,
    })
    .toBeGreaterThan(step + 1);
  await card(second.page, id).getByRole('button', { name: 'Cancel' }).click();
  await card(second.page, id).waitFor({ state: 'detached' });
  expect([...first.faults, ...second.faults]).toEqual([]);
  await first.context.close();
});

test('a page that nobody looks at tells by its title and by a notification', async () => {
  const { page, context, faults } = await openPage(browser, url);
  await page.addInitScript(`
    window.looked = true;
    Object.defineProperty(document, 'visibilityState', { get: () => (window.looked ? 'visible' : 'hidden') });
    window.notes = [];
    window.Notification = class { static permission = 'granted'; static requestPermission = async () => 'granted';
      constructor(title, options) { window.notes.push([title, options.body]); } };
  `);
  await page.reload();
  await page.getByLabel('Tell me when it is done').check({ force: true });
  await fillForm(page, { prompt: 'A ball unseen.' });
  // Before the click: a small clip may be done before its card is there.
  await page.evaluate('window.looked = false');
  await make(page);
  await expect.poll(() => page.title(), { timeout: 60_000 }).toBe('1 done – Orrery');
  expect(await page.evaluate('window.notes')).toEqual([['Done', 'A ball unseen.']]);
  await page.evaluate(`window.looked = true; document.dispatchEvent(new Event('visibilitychange'))`);
  await expect.poll(() => page.title()).toBe('Orrery');
  expect(faults).toEqual([]);
  await context.close();
});

test('offline and back: the page says so, and catches up with what ended meanwhile', async () => {
  const { page, context, faults } = await openPage(browser, url);
  await fillForm(page, { prompt: 'A yellow ball.', task: 'Clip', frames: 5, steps: 4, side: 96 });
  const id = await make(page);
  await context.setOffline(true);
  await expectText(page.locator('.connection'), /does not answer/);
  await expect
    .poll(async () => JSON.parse(await (await fetch(`${url}/v1/jobs/${id}`)).text()).status, { timeout: 60_000 })
    .toBe('completed');
  await context.setOffline(false);
  await card(page, id).and(page.locator('.watch-completed')).waitFor();
  await page.locator('.connection').waitFor({ state: 'detached' });
  expect(faults).toEqual([]);
  await context.close();
});

test('a server that is killed and started again loses no job, and the page follows it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-web-restart-'));
  try {
    await using before = await startServer({ folder });
    const { page, context, faults } = await openPage(browser, before.url);
    await fillForm(page, { prompt: 'A ball before the end.', task: 'Clip', frames: 9, steps: 20, side: 96 });
    const running = await make(page);
    const waiting = await make(page);
    await expectText(card(page, running), /Step [1-9]\d* of 20/);
    await expectText(card(page, waiting), /Place 1 in the queue/);
    await before.stop('SIGKILL');
    await expectText(page.locator('.connection'), /does not answer/);
    await using after = await startServer({ folder, flags: ['--port', new URL(before.url).port] });
    expect(after.url).toBe(before.url);
    await page.locator('.connection').waitFor({ state: 'detached' });
    for (const id of [running, waiting]) {
      await card(page, id).and(page.locator('.watch-completed')).waitFor({ timeout: 80_000 });
    }
    expect(faults).toEqual([]);
    await context.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
