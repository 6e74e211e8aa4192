// Access: the keyboard alone, axe-core on every view in both colours and on a phone, a key that is asked for.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { startServer } from '../api/start-server.js';
import { launchBrowser, openPage } from './browser.js';
import { card, control, expectText, fillForm, make, openResult, unfold } from './form.js';

const url = inject('serverUrl');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Faults that axe-core calls serious or worse, colour contrast among them. */
async function seriousFaults(page: Page): Promise<readonly string[]> {
  // The content policy forbids a script element; what is evaluated runs beside it.
  await page.evaluate(`typeof axe === 'undefined' && (0, (() => { ${axe} })())`);
  const violations: readonly Violation[] = await page.evaluate(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }).then(({ violations }) => violations)`,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
    );
}

/** Whether the page can be scrolled sideways. */
const isTooWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';

describe('axe-core finds nothing serious', () => {
  let clip: string;
  let picture: string;
  beforeAll(async () => {
    const { page, context } = await openPage(browser, url);
    await fillForm(page, { prompt: 'A ball for the eye.', side: 64 });
    picture = await make(page);
    await control(page, 'task').selectOption({ label: 'Clip' });
    await control(page, 'num_frames').fill('5');
    clip = await make(page);
    await card(page, clip).and(page.locator('.watch-completed')).waitFor({ timeout: 80_000 });
    await context.close();
  });

  test('and finds a fault that is planted', async () => {
    const { page, context } = await openPage(browser, url);
    await page.locator('textarea').waitFor();
    await page.evaluate(`document.querySelector('main').append(document.createElement('button'))`);
    expect(await seriousFaults(page)).toEqual([expect.stringContaining('button-name')]);
    await context.close();
  });

  test.each([
    { colorScheme: 'light', viewport: { width: 1280, height: 900 } },
    { colorScheme: 'dark', viewport: { width: 1280, height: 900 } },
    { colorScheme: 'light', viewport: { width: 390, height: 800 } },
    { colorScheme: 'dark', viewport: { width: 390, height: 800 } },
  ] as const)('on every view: $colorScheme, $viewport.width wide', async (options) => {
    const { page, context, faults } = await openPage(browser, url, options);
    const views = ['make', `jobs/${picture}`, `jobs/${clip}`, `compare/${picture}/${clip}`, 'gallery', 'status'];
    for (const view of views) {
      await page.goto(`${url}/#/${view}`);
      await page
        .locator('main h1')
        .waitFor({ state: 'attached', timeout: 5000 })
        .catch(() => expect.fail(`${view} has no headline`));
      await page.locator('main .spinner').waitFor({ state: 'detached' });
      if (view === 'make') {
        await control(page, 'task').selectOption({ label: 'Controlled clip' });
        await unfold(page);
      }
      await page.waitForTimeout(300);
      expect(await seriousFaults(page), view).toEqual([]);
      expect(await page.evaluate(isTooWide), `${view} is wider than the window`).toBe(false);
    }
    expect(faults).toEqual([]);
    await context.close();
  });
});

test('a picture is made, watched and opened with the keyboard alone', async () => {
  const { page, context, faults } = await openPage(browser, url);
  await page.locator('textarea').waitFor();
  const focused = () =>
    page.evaluate<string>(`(() => {
    const element = document.activeElement;
    const style = getComputedStyle(element.matches('.segment input, .switch input') ? element.nextElementSibling : element);
    return [element.tagName, element.getAttribute('aria-label') ?? element.textContent.trim().slice(0, 40), style.outlineStyle].join('|');
  })()`);
  const tabTo = async (words: RegExp) => {
    for (let presses = 0; presses < 80; presses++) {
      await page.keyboard.press('Tab');
      const found = await focused();
      expect(found, 'the focus is seen').toMatch(/\|solid$/);
      if (words.test(found)) return;
    }
    throw new Error(`the Tab key does not lead to ${words}`);
  };
  await page.keyboard.press('Tab');
  expect(await focused()).toMatch(/Skip to the content/);
  await page.keyboard.press('Enter');
  await tabTo(/^TEXTAREA/);
  await page.keyboard.type('A ball by hand.');
  await tabTo(/^SELECT/);
  await page.keyboard.type('Picture');
  await tabTo(/^SUMMARY/);
  await page.keyboard.press('Enter');
  await control(page, 'num_inference_steps').waitFor();
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(`document.activeElement.closest('[data-field="num_inference_steps"]') !== null`)) break;
  }
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Shift+ArrowDown');
  expect(await control(page, 'num_inference_steps').inputValue()).toBe('5');
  await page.keyboard.press('Control+Enter');
  await expectText(page.locator('.watch-completed'), /A ball by hand/);
  await tabTo(/^A\|Open: A ball by hand/);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'A ball by hand.' }).waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('a key is asked for, kept in the tab alone, and used', async () => {
  await using server = await startServer({ flags: ['--api-key', 'open-sesame'], isHasty: true });
  const { page, context } = await openPage(browser, server.url);
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('API key').fill('wrong');
  await dialog.getByRole('button', { name: 'Use the key' }).click();
  await expectText(dialog.locator('.field-error'), /does not know this key/);
  await dialog.getByLabel('API key').fill('open-sesame');
  await dialog.getByRole('button', { name: 'Use the key' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await fillForm(page, { prompt: 'A locked ball.' });
  const id = await make(page);
  await openResult(page, id);
  await page.locator('main figure img, main img').first().waitFor();
  expect(await page.evaluate(`JSON.stringify([{ ...localStorage }, document.cookie])`)).not.toContain('sesame');
  expect(await page.evaluate(`JSON.stringify({ ...sessionStorage })`)).toContain('sesame');
  await context.close();
});
