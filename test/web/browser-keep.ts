// Keep and operate: a gallery of 5 000 jobs, found by words, task and date, moved through by keys; a status that follows the server.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createClient } from '../../src/protocol/index.js';
import { type StartedServer, startServer } from '../api/start-server.js';
import { launchBrowser, openPage } from './browser.js';
import { expectText } from './form.js';
import { finished } from './make-jobs.js';
import { promptOf, seedJobs } from './seed-jobs.js';

const count = 5000;
let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

describe('a gallery of 5 000 jobs', () => {
  let folder: string;
  let server: StartedServer;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'orrery-web-many-'));
    await seedJobs(join(folder, 'store'), count);
    server = await startServer({ folder, isHasty: true });
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const openGallery = async () => {
    const watched = await openPage(browser, `${server.url}/#/gallery`);
    await expectFound(watched.page, '5,000 jobs');
    return watched;
  };
  const expectFound = (page: Page, words: string) =>
    expectText(page.locator('.keep-state [role=status]'), new RegExp(`^${words}$`));
  const focused = (page: Page) =>
    page.evaluate(`document.activeElement.querySelector('.keep-prompt')?.textContent ?? ''`);
  /** Cards that exist, and of the pictures on the screen those that are there. */
  const drawn = (page: Page) =>
    page.evaluate<{ cards: number; seen: number; loaded: number; shown: readonly string[] }>(`(() => {
      const onScreen = [...document.querySelectorAll('.keep-item')].filter((item) => {
        const { top, bottom } = item.getBoundingClientRect();
        return bottom > 0 && top < innerHeight;
      });
      const pictures = onScreen.flatMap((item) => [...item.querySelectorAll('img')]);
      return {
        cards: document.querySelectorAll('.keep-item').length,
        seen: onScreen.length,
        loaded: pictures.filter((image) => image.complete && image.naturalWidth === 320).length,
        shown: onScreen.map((item) => item.querySelector('.keep-prompt')?.textContent ?? ''),
      };
    })()`);

  test('draws only what is near the screen, from the newest to the oldest', async () => {
    const { page, context, faults } = await openGallery();
    await expect.poll(async () => (await drawn(page)).loaded).toBeGreaterThanOrEqual(8);
    const first = await drawn(page);
    expect(first.cards).toBeLessThan(60);
    expect(first.shown[0]).toBe(promptOf(count));
    await page.locator('[data-card]').first().focus();
    for (const key of ['ArrowRight', 'ArrowDown', 'ArrowLeft']) await page.keyboard.press(key);
    await expect.poll(() => focused(page)).toBe(promptOf(count - 5));
    await page.keyboard.press('End');
    await expect.poll(() => focused(page), { timeout: 30_000 }).toBe(promptOf(1));
    await expect
      .poll(async () => {
        const { seen, loaded } = await drawn(page);
        return seen - loaded;
      })
      .toBe(0);
    expect((await drawn(page)).cards).toBeLessThan(60);
    // The wheel, to the middle and back.
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight / 2)');
    await expect.poll(async () => (await drawn(page)).loaded).toBeGreaterThanOrEqual(8);
    const middle = (await drawn(page)).shown.map((words) => Number(/\d+$/.exec(words)?.[0] ?? 0)).filter((n) => n > 1);
    expect(Math.max(...middle)).toBeLessThan(2700);
    expect(Math.min(...middle)).toBeGreaterThan(2300);
    await page.keyboard.press('Home');
    await expect.poll(() => focused(page)).toBe(promptOf(count));
    expect(faults).toEqual([]);
    await context.close();
  });

  test('finds by words, task and date, and keeps the search in its address', async () => {
    const { page, context, faults } = await openGallery();
    await page.getByLabel('Words').fill('ROYALBLUE number 4710');
    await expectFound(page, '1 job');
    expect((await drawn(page)).shown).toEqual([promptOf(4710)]);
    await page.getByLabel('Words').fill('');
    await page.getByLabel('Task').selectOption('text-to-video');
    await expectFound(page, '500 jobs');
    await page.getByLabel('From').fill('2026-01-02');
    await page.getByLabel('To').fill('2026-01-02');
    // A day of minutes, every tenth a clip.
    await expectFound(page, '144 jobs');
    await page.reload();
    await expectFound(page, '144 jobs');
    await page.getByRole('button', { name: 'Show all' }).click();
    await expectFound(page, '5,000 jobs');
    expect(faults).toEqual([]);
    await context.close();
  });

  test('keeps favourites, chooses two to compare and deletes, by keys', async () => {
    const { page, context, faults } = await openGallery();
    await page.locator('[data-card]').first().focus();
    await page.keyboard.press('f');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('f');
    await page.getByLabel('Favourites').check({ force: true });
    await expectFound(page, '2 jobs');
    expect((await drawn(page)).shown).toEqual([promptOf(count), promptOf(count - 1)]);
    await page.reload();
    await expectFound(page, '2 jobs');
    await page.locator('[data-card]').first().focus();
    await page.keyboard.press('Delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await expectFound(page, '1 job');
    await page.getByLabel('Favourites').uncheck({ force: true });
    await expectFound(page, '4,999 jobs');
    await page.locator('[data-card]').first().focus();
    expect(await focused(page)).toBe(promptOf(count - 1));
    expect(faults).toEqual([]);
    await context.close();
  });
});

describe('the status', () => {
  test('follows the server, with a course of each figure', async () => {
    const url = inject('serverUrl');
    const { page, context, faults } = await openPage(browser, `${url}/#/status`);
    const figure = (name: string) => page.locator('.operate-figure', { hasText: name });
    await expectText(figure('Memory of the machine'), /GB/);
    const before = await numberIn(figure('Finished since the start'));
    const client = createClient({ baseUrl: url });
    const form = {
      prompt: 'A ball for the course.',
      size: '64x64',
      num_inference_steps: 2,
      extra_params: { task: 'text-to-image' },
    };
    await finished(client, (await client.createJob(form)).id);
    await expect(client.createJob({ ...form, num_inference_steps: 900 })).rejects.toMatchObject({ status: 400 });
    await expect.poll(() => numberIn(figure('Finished since the start')), { timeout: 10_000 }).toBe(before + 1);
    await expectText(figure('Steps per second: Picture'), /\d[\d.,]* \/s/);
    await expectText(page.locator('main'), /invalid_value/);
    // Every figure has its course, of as many points as there were answers.
    const courses = () =>
      page.locator('.operate-line').evaluateAll((all) => all.map((line) => line.getAttribute('d') ?? ''));
    await expect
      .poll(async () => (await courses()).filter((course) => !/^M.*L/.test(course)), { timeout: 20_000 })
      .toEqual([]);
    expect((await courses()).length).toBeGreaterThanOrEqual(8);
    expect(faults).toEqual([]);
    await context.close();
  });
});

async function numberIn(locator: ReturnType<Page['locator']>): Promise<number> {
  const text = (await locator.locator('.operate-value').textContent()) ?? '';
  return Number(text.replaceAll(',', ''));
}
