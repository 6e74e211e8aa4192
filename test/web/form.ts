// The form of Make as a person uses it.
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** What a small and quick job is made of. */
export interface Small {
  readonly prompt: string;
  readonly task?: string;
  readonly frames?: number;
  readonly steps?: number;
  /** Side in pixels; left out where the canvas follows the input. */
  readonly side?: number | null;
}

/** The field of a wire name. */
export function field(page: Page, name: string): Locator {
  return page.locator(`[data-field="${name}"]`);
}

/** The control inside of it. */
export function control(page: Page, name: string): Locator {
  return field(page, name).locator('input, textarea, select').first();
}

/** Unfolds the advanced settings. */
export async function unfold(page: Page): Promise<void> {
  const details = page.locator('details.disclosure');
  if ((await details.getAttribute('open')) === null) await details.locator('summary').click();
}

/** Fills the form in. */
export async function fillForm(page: Page, { prompt, task, frames, steps = 2, side = 64 }: Small): Promise<void> {
  await control(page, 'prompt').fill(prompt);
  if (task !== undefined) await control(page, 'task').selectOption({ label: task });
  if (side !== null) {
    await page.getByRole('radio', { name: 'Own size' }).check({ force: true });
    await control(page, 'width').fill(String(side));
    await control(page, 'height').fill(String(side));
  }
  if (frames !== undefined) await control(page, 'num_frames').fill(String(frames));
  await unfold(page);
  await control(page, 'num_inference_steps').fill(String(steps));
}

/** Drops files on the form, as from a folder. */
export async function dropFiles(page: Page, paths: readonly string[]): Promise<void> {
  const types: Readonly<Record<string, string>> = {
    jpg: 'image/jpeg',
    png: 'image/png',
    mp4: 'video/mp4',
    json: 'application/json',
  };
  const files = await Promise.all(
    paths.map(async (path) => ({
      name: basename(path),
      type: types[path.split('.').pop() ?? ''] ?? '',
      data: (await readFile(path)).toString('base64'),
    })),
  );
  const transfer = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    for (const { name, type, data } of ${JSON.stringify(files)})
      transfer.items.add(new File([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], name, { type }));
    return transfer;
  })()`);
  const form = page.locator('section.make');
  for (const event of ['dragover', 'drop']) await form.dispatchEvent(event, { dataTransfer: transfer });
  for (const { name } of files) await expectText(page.locator('.make-input', { hasText: name }), /./);
  await page.locator('.make-input[aria-busy="true"]').waitFor({ state: 'detached' });
}

/** Sends the form. Gives the id of the job, whose card must have appeared. */
export async function make(page: Page): Promise<string> {
  const reply = page.waitForResponse(
    (response) => response.url().endsWith('/v1/jobs') && response.request().method() === 'POST',
  );
  await page.getByRole('button', { name: 'Make it' }).click();
  const response = await reply;
  const body = await response.text();
  expect(response.status(), body).toBe(200);
  const { id }: { id: string } = JSON.parse(body);
  await card(page, id).waitFor();
  return id;
}

/** The card of a job. */
export function card(page: Page, id: string): Locator {
  return page.locator(`[data-job="${id}"]`);
}

/** Waits until a job's card says that it is done, then opens it. */
export async function openResult(page: Page, id: string): Promise<void> {
  await card(page, id).and(page.locator('.watch-completed')).waitFor({ timeout: 80_000 });
  await card(page, id).getByRole('link', { name: 'Open', exact: true }).click();
  await page.getByRole('heading', { level: 1 }).waitFor();
}

/** Waits for a text. */
export async function expectText(locator: Locator, text: RegExp): Promise<void> {
  await expect
    .poll(async () => (await locator.first().textContent({ timeout: 20_000 })) ?? '', { timeout: 20_000 })
    .toMatch(text);
}
