// Make: a picture, clips, sound, control and a robot, each from the form to the result.
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Job } from '../../src/protocol/index.js';
import { launchBrowser, openPage, type WatchedPage } from './browser.js';
import { card, control, dropFiles, expectText, field, fillForm, make, openResult, unfold } from './form.js';

const url = inject('serverUrl');
const media = (name: string) => join(inject('mediaFolder'), name);
let browser: Browser;
let opened: WatchedPage | undefined;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());
afterEach(async () => {
  const faults = opened?.faults;
  await opened?.context.close();
  expect(faults).toEqual([]);
});

const open = async () => {
  opened = await openPage(browser, url);
  return opened.page;
};
const jobOf = async (id: string): Promise<Job> => JSON.parse(await (await fetch(`${url}/v1/jobs/${id}`)).text());

describe('what is made', () => {
  test('a picture, seen while it grows, with its cost before', async () => {
    const page = await open();
    await fillForm(page, { prompt: 'A red ball on a white floor.', steps: 4, side: 96 });
    await expectText(page.locator('.make-cost'), /96 × 96 px.*Passes/s);
    const id = await make(page);
    await openResult(page, id);
    const picture = page.locator('main figure img, main img').first();
    await picture.waitFor();
    await expect.poll(() => page.evaluate(`document.querySelector('main figure img, main img').naturalWidth`)).toBe(96);
    expect(await jobOf(id)).toMatchObject({ task: 'text-to-image', num_inference_steps: 4, width: 96, height: 96 });
  });

  test('a clip from a dropped picture', async () => {
    const page = await open();
    await fillForm(page, { prompt: 'It rolls away.' });
    await dropFiles(page, [media('first_frame.jpg')]);
    expect(await control(page, 'task').inputValue()).toBe('image-to-video');
    await control(page, 'num_frames').fill('5');
    const id = await make(page);
    await openResult(page, id);
    const video = page.locator('main video').first();
    await video.waitFor();
    await expect.poll(() => page.evaluate(`document.querySelector('main video').duration`)).toBeGreaterThan(0.1);
    const job = await jobOf(id);
    expect(job).toMatchObject({ task: 'image-to-video', num_frames: 5, inputs: [{ role: 'image' }] });
  });

  test('a clip with sound, its length typed in seconds', async () => {
    const page = await open();
    await fillForm(page, { prompt: 'A bell rings.', task: 'Clip' });
    await control(page, 'seconds').fill('0.35');
    expect(await control(page, 'num_frames').inputValue()).toBe('8');
    await page.getByLabel('With sound').check({ force: true });
    await expectText(page.locator('.make-cost'), /9 frames.*Sound/s);
    await expectText(page.locator('.make-warnings'), /rounded up to 9/);
    const id = await make(page);
    await openResult(page, id);
    await page.locator('main video').first().waitFor();
    const job = await jobOf(id);
    expect(job.has_sound).toBe(true);
    expect(job.artifacts.map(({ variant }) => variant)).toContain('sound');
  });

  test('a transfer with edges computed from the dropped clip', async () => {
    const page = await open();
    await fillForm(page, { prompt: 'The same, painted.', task: 'Controlled clip', side: null, frames: 5 });
    await dropFiles(page, [media('reference.mp4')]);
    await page.getByLabel('Strength of Edge map').selectOption('low');
    await control(page, 'num_video_frames_per_chunk').fill('5');
    await expectText(page.locator('.make-cost'), /5 frames.*Edge map/s);
    const id = await make(page);
    await openResult(page, id);
    await page.locator('main video').first().waitFor();
    const job = await jobOf(id);
    expect(job).toMatchObject({ task: 'transfer', inputs: [{ role: 'video' }] });
    expect(job.artifacts.map(({ variant }) => variant)).toContain('control_edge');
    expect(await page.locator('.see-tile-name').allTextContents()).toEqual(['Result', 'Input clip', 'Edges']);
    expect(job.request).toMatchObject({ extra_params: { edge: { preset_edge_threshold: 'low' } } });
  });

  test('a policy rollout with its plot', async () => {
    const page = await open();
    await fillForm(page, { prompt: 'Pick up the cup.', task: 'Robot: plan actions', side: null, frames: 5 });
    await dropFiles(page, [media('first_frame.jpg')]);
    expect(await control(page, 'task').inputValue()).toBe('policy');
    await field(page, 'domain_name').locator('select').selectOption('droid_lerobot');
    expect(Number(await control(page, 'raw_action_dim').inputValue())).toBeGreaterThan(0);
    await expectText(page.locator('.make-cost'), /Actions.*4 rows/s);
    const id = await make(page);
    await openResult(page, id);
    await page.locator('main svg polyline, main svg path[d*="L"], main canvas').first().waitFor();
    expect((await jobOf(id)).action?.data).toHaveLength(4);
  });

  test('again with another seed: the form holds the request', async () => {
    const page = await open();
    await fillForm(page, { prompt: 'A blue cube.' });
    await control(page, 'seed').fill('7');
    const id = await make(page);
    await card(page, id).and(page.locator('.watch-completed')).waitFor();
    await page.getByRole('button', { name: 'Start over' }).click();
    expect(await control(page, 'prompt').inputValue()).toBe('');
    await card(page, id).getByRole('button', { name: 'Again with …' }).click();
    await expect.poll(() => control(page, 'prompt').inputValue()).toBe('A blue cube.');
    await unfold(page);
    expect(await control(page, 'seed').inputValue()).toBe('7');
    expect(await control(page, 'width').inputValue()).toBe('64');
    expect(await control(page, 'num_inference_steps').inputValue()).toBe('2');
  });
});

describe('wrong values', () => {
  // Words of the server or of the schema that it reads requests with.
  const cases: readonly (readonly [name: string, value: string, words: RegExp])[] = [
    ['num_inference_steps', '201', /num_inference_steps must be a whole number from 1 to 200, got 201/],
    ['guidance_scale', '-1', /guidance_scale must be a finite number from 0 to 20, got -1/],
    ['guidance_scale', 'much', /guidance_scale must be a finite number from 0 to 20, got "much"/],
    ['flow_shift', '0', /flow_shift must be a finite number greater than 0, got 0/],
    ['seed', '1.5', /seed must be a whole number/],
    ['guidance_interval', '700,300', /guidance_interval/],
    ['skip_steps', 'all', /skip_steps/],
    ['width', '100', /width is 100 in 100x64; it must be a multiple of 16: give 96 or 112/],
    ['num_frames', '6000', /num_frames/],
    ['fps', '0', /fps must be a finite number of at least 1, got 0/],
    ['sound_duration', '-2', /sound_duration must be a finite number greater than 0, got -2/],
    ['aspect_ratio', 'wide', /aspect_ratio must be W:H, as 16:9, got "wide"/],
    ['max_sequence_length', '0', /max_sequence_length must be a whole number from 1 to 262144, got 0/],
  ];

  test('stand at their fields, in the words of the server', async () => {
    const page = await open();
    await fillForm(page, { prompt: 'A ball.', task: 'Clip', frames: 5 });
    for (const [name, value, words] of cases) {
      const before = await control(page, name).inputValue();
      await control(page, name).fill(value);
      await expectText(field(page, name).locator('.field-error'), words);
      expect(await control(page, name).getAttribute('aria-invalid')).toBe('true');
      await control(page, name).fill(before);
      await field(page, name).locator('.field-error').waitFor({ state: 'detached' });
    }
  });

  test('stand at every number of every task, in the words of its schema', async () => {
    const page = await open();
    await fillForm(page, { prompt: 'A ball.' });
    const tasks = await control(page, 'task').locator('option').allTextContents();
    const seen = new Set<string>();
    for (const task of tasks) {
      await control(page, 'task').selectOption({ label: task });
      const shown = await page
        .locator('[data-field]:not([data-field="size"]):has(input[inputmode])')
        .evaluateAll((all) => all.map((one) => one.getAttribute('data-field') ?? ''));
      for (const name of shown) {
        if (seen.has(name) || name === 'seconds') continue;
        seen.add(name);
        await control(page, name).fill('many');
        await expectText(field(page, name).locator('.field-error'), new RegExp(`^${name} must be .*, got "many"`));
        await control(page, name).fill('');
      }
    }
    expect([...seen].sort()).toEqual(
      expect.arrayContaining(['action_fps', 'control_guidance', 'domain_id', 'fps', 'noise_index', 'seed']),
    );
    expect(seen.size).toBeGreaterThan(18);
  });

  test('an empty form says what is missing when it is sent, and the field has the focus', async () => {
    const page = await open();
    await page.getByRole('button', { name: 'Make it' }).click();
    await expectText(field(page, 'prompt').locator('.field-error'), /prompt/);
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA');
  });

  test('a file that is no picture, and a file without actions', async () => {
    const page = await open();
    await page.locator('input[type=file]').setInputFiles([
      { name: 'broken.png', mimeType: 'image/png', buffer: Buffer.from('no picture') },
      { name: 'rows.json', mimeType: 'application/json', buffer: Buffer.from('{"a": 1}') },
    ]);
    await expectText(page.locator('.make-input .field-error'), /valid image or video|cannot be used/);
    await expectText(page.locator('.toast-error'), /rows.json holds no actions/);
  });
});
