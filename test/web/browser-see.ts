// See: the player and its keys, input, control maps and output in step, wipes, plots of actions, lines that can be pasted.
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Job } from '../../src/protocol/index.js';
import { runProgram, runScript } from '../api/run-program.js';
import { root } from '../architecture/source-tree.js';
import { launchBrowser, openPage, type WatchedPage } from './browser.js';
import { control, expectText } from './form.js';
import { finished, makeJobs, type SeenJobs } from './make-jobs.js';

const url = inject('serverUrl');
let browser: Browser;
let jobs: SeenJobs;
let opened: WatchedPage | undefined;
beforeAll(async () => {
  browser = await launchBrowser();
  jobs = await makeJobs(url);
});
afterAll(() => browser?.close());
afterEach(async () => {
  const faults = opened?.faults ?? [];
  await opened?.context.close();
  opened = undefined;
  expect(faults).toEqual([]);
});

/** Opens a view and waits until each of its clips shows a frame. */
async function see(view: string, clips: number): Promise<Page> {
  opened = await openPage(browser, `${url}/#/${view}`);
  const { page } = opened;
  await expect
    .poll(() => page.evaluate(`[...document.querySelectorAll('main video')].filter((v) => v.readyState >= 2).length`), {
      timeout: 20_000,
    })
    .toBe(clips);
  return page;
}

/** What each clip shows: its label, and the number of its frame. */
function framesOf(page: Page, fps: number): Promise<readonly (readonly [string, number])[]> {
  return page.evaluate(
    `[...document.querySelectorAll('main video')].map((v) =>
      // Played to its end, a clip stands behind its last frame, which it shows.
      [v.getAttribute('aria-label'), Math.floor(Math.min(v.currentTime, v.duration - 0.001) * ${fps})])`,
  );
}

/** Waits until all clips show a frame. */
async function expectFrame(page: Page, frame: number, fps = 8): Promise<void> {
  await expect
    .poll(async () => (await framesOf(page, fps)).map(([, shown]) => shown))
    .toSatisfy((shown: number[]) => shown.every((one) => one === frame));
  await expectText(page.locator('.see-clock'), new RegExp(`frame ${frame + 1}/9`));
}

describe('the player', () => {
  test('steps, jumps, loops, changes its speed and fills the screen by keys', async () => {
    const page = await see(`jobs/${jobs.clip.id}`, 1);
    await expectFrame(page, 0);
    const press = (key: string) => page.keyboard.press(key);
    await press('ArrowRight');
    await press('.');
    await expectFrame(page, 2);
    await press('ArrowLeft');
    await expectFrame(page, 1);
    await press('End');
    await expectFrame(page, 8);
    // It loops: one further is the first again, and without the loop the last stays.
    await press('ArrowRight');
    await expectFrame(page, 0);
    await press('l');
    expect(await page.getByRole('button', { name: 'Loop' }).getAttribute('aria-pressed')).toBe('false');
    await press('End');
    await press('ArrowRight');
    await expectFrame(page, 8);
    await press('Home');
    await press(']');
    expect(await page.locator('.see-speed select').inputValue()).toBe('1.5');
    expect(await page.evaluate(`document.querySelector('main video').playbackRate`)).toBe(1.5);
    await press('Space');
    // Without the loop it stops at its end.
    await expectFrame(page, 8);
    await page.getByRole('button', { name: 'Play' }).waitFor();
    await press('f');
    await expect.poll(() => page.evaluate(`document.fullscreenElement?.querySelector('video') !== null`)).toBe(true);
    await press('f');
    await expect.poll(() => page.evaluate('document.fullscreenElement')).toBeNull();
    // A control that has the focus keeps its own keys.
    await page.locator('.see-speed select').focus();
    await press('Home');
    await expectFrame(page, 8);
  });

  test('plays by itself, and stands still for whoever asked for stillness', async () => {
    opened = await openPage(browser, `${url}/#/jobs/${jobs.clip.id}`, { reducedMotion: 'no-preference' });
    await expect
      .poll(() => opened?.page.evaluate(`document.querySelector('main video')?.paused`), { timeout: 20_000 })
      .toBe(false);
    await opened.context.close();
    const page = await see(`jobs/${jobs.clip.id}`, 1);
    await page.waitForTimeout(300);
    expect(await page.evaluate(`document.querySelector('main video').paused`)).toBe(true);
    await expectFrame(page, 0);
    // Nor does anything else move by itself.
    await page.evaluate(`location.hash = '#/make'`);
    await page.locator('textarea').waitFor();
    expect(await page.evaluate('document.getAnimations().length')).toBe(0);
  });

  test('shows input, control maps that the server made, and output in step', async () => {
    const { transfer } = jobs;
    const fps = transfer.fps ?? 0;
    const page = await see(`jobs/${transfer.id}`, 4);
    expect((await framesOf(page, fps)).map(([label]) => label)).toEqual([
      'Result: A ball to be followed.',
      'Input clip',
      'Edges',
      'Blurred picture',
    ]);
    for (let step = 0; step < 3; step++) await page.keyboard.press('ArrowRight');
    await expectText(page.locator('.see-clock'), /frame 4\/5/);
    // The input runs frame by frame with the result, whatever its own speed is.
    const input = jobs.clip.fps ?? 0;
    await expect
      .poll(() =>
        page.evaluate(
          `[...document.querySelectorAll('main video')].map((v, i) => Math.floor(v.currentTime * (i === 1 ? ${input} : ${fps})))`,
        ),
      )
      .toEqual([3, 3, 3, 3]);
    // The edges are lines on black, the blurred clip is not.
    const dark = (label: string) =>
      page.evaluate<number>(`(() => {
        const video = document.querySelector('main video[aria-label="${label}"]');
        const canvas = document.createElement('canvas');
        [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
        const context = canvas.getContext('2d');
        context.drawImage(video, 0, 0);
        const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
        return data.filter((value, i) => i % 4 === 0 && value < 24).length / (data.length / 4);
      })()`);
    expect(await dark('Edges')).toBeGreaterThan(0.7);
    expect(await dark('Blurred picture')).toBeLessThan(0.5);
    for (const name of ['Control: Edges', 'Control: Blurred picture'])
      expect(await page.getByRole('link', { name }).getAttribute('href')).toContain('variant=control_');
  });

  test('lays the result over a control map, with a line that keys and the mouse move', async () => {
    const page = await see(`jobs/${jobs.transfer.id}`, 4);
    await page.getByRole('radio', { name: 'Wipe: Edges' }).check({ force: true });
    await expect.poll(() => page.locator('main video').count()).toBe(2);
    const cut = () => page.evaluate(`document.querySelectorAll('.see-layer')[1].style.clipPath`);
    expect(await cut()).toBe('inset(0px 0px 0px 50%)');
    await page.getByLabel('Line').focus();
    await page.keyboard.press('ArrowRight');
    expect(await cut()).toBe('inset(0px 0px 0px 51%)');
    const box = await page.locator('.see-wipe').boundingBox();
    if (box === null) throw new Error('there is no wipe');
    await page.mouse.click(box.x + box.width / 4, box.y + box.height / 2);
    expect(await cut()).toMatch(/^inset\(0px 0px 0px (24|25)(\.\d+)?%\)$/);
    await page.getByRole('radio', { name: 'Side by side' }).check({ force: true });
    await expect.poll(() => page.locator('main video').count()).toBe(4);
  });
});

test('a frame is saved, and begins another clip', async () => {
  const { clip } = jobs;
  const page = await see(`jobs/${clip.id}`, 1);
  for (let step = 0; step < 4; step++) await page.keyboard.press('ArrowRight');
  await expectFrame(page, 4);
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save this frame' }).click(),
  ]);
  expect(saved.suggestedFilename()).toBe(`${clip.id}_5.png`);
  expect(await sharp(await saved.path()).metadata()).toMatchObject({ format: 'png', width: 64, height: 64 });
  await page.getByRole('button', { name: 'Begin a clip with this frame' }).click();
  await expectText(page.locator('.make-input'), new RegExp(`${clip.id}_5.png.*64 × 64 px`, 's'));
  expect(await control(page, 'task').inputValue()).toBe('image-to-video');
  expect(await page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA');
});

describe('a comparison', () => {
  test('shows two results in step, beside each other and by a wipe, with what differs', async () => {
    const { clip, other } = jobs;
    const page = await see(`compare/${clip.id}/${other.id}`, 2);
    for (let step = 0; step < 3; step++) await page.keyboard.press('ArrowRight');
    await expectFrame(page, 3);
    const rows = page.locator('#see-differences ~ .see-table tbody tr');
    expect(await rows.allTextContents()).toEqual(['promptA ball that rolls.A ball that stops.', 'seed78']);
    await page.getByRole('radio', { name: 'Wipe' }).check({ force: true });
    await expect
      .poll(() => page.evaluate(`[...document.querySelectorAll('.see-layer video')].map((v) => v.readyState >= 2)`))
      .toEqual([true, true]);
    await expectFrame(page, 3);
    await page.getByRole('button', { name: 'Swap' }).click();
    await expect.poll(() => page.url()).toContain(`compare/${other.id}/${clip.id}`);
  });
});

describe('actions', () => {
  test('are plots with the frame under the cursor, a path in space, and files', async () => {
    const { policy } = jobs;
    const rows = policy.action?.data ?? [];
    expect([rows.length, rows[0]?.length]).toEqual([4, 10]);
    const page = await see(`jobs/${policy.id}`, 2);
    const plots = page.locator('.see-plot-surface');
    const lines = await plots.evaluateAll((all) => all.map((plot) => plot.querySelectorAll('.see-line').length));
    // Position, rotation, gripper.
    expect(lines).toEqual([3, 6, 1]);
    await plots.first().scrollIntoViewIfNeeded();
    const position = await plots.first().boundingBox();
    if (position === null) throw new Error('there is no plot');
    // The last row of four leads to the last of five frames.
    await page.mouse.move(position.x + position.width - 10, position.y + position.height / 2);
    await expectText(page.locator('.see-clock'), /frame 5\/5/);
    await expect
      .poll(() => page.evaluate(`document.querySelector('[aria-label="The frame at the line"]').currentTime`))
      .toBeCloseTo(4.5 / (policy.fps ?? 1), 1);
    const shown = await page.locator('.see-legend').first().locator('.mono').allTextContents();
    for (const [i, text] of shown.entries()) expect(Number(text)).toBeCloseTo(rows[3]?.[i] ?? Number.NaN, 2);
    // The path has a place for each row and the start; a mark of the gripper for each row; it turns.
    const path = page.locator('.see-path-surface');
    const drawn = () => path.locator('.see-solid').getAttribute('d');
    expect((await drawn())?.match(/[ML]/g)).toHaveLength(5);
    expect(await path.locator('.see-open, .see-closed').count()).toBe(4);
    const before = await drawn();
    await page.getByLabel('Turn').focus();
    await page.keyboard.press('ArrowRight');
    expect(await drawn()).not.toBe(before);
    const table = (await download(page, 'CSV')).trim().split('\r\n');
    expect(table[0]).toBe('step,frame,seconds,x,y,z,r1,r2,r3,r4,r5,r6,gripper');
    expect(table).toHaveLength(5);
    expect(table[4]?.split(',').slice(3).map(Number).map(Math.fround)).toEqual(rows[3]?.map(Math.fround));
    expect(JSON.parse(await download(page, 'JSON'))).toEqual(policy.action);
  });
});

async function download(page: Page, name: string): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()]);
  return readFileSync(await file.path(), 'utf8');
}

describe('lines that can be pasted', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'orrery-lines-'));
    // What an installed package has: `orrery` among the programs, and the module by its name.
    mkdirSync(join(folder, 'bin'));
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(root, join(folder, 'node_modules/orrery'));
    const program = join(folder, 'bin/orrery');
    writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'dist/cli/main.js')}" "$@"\n`);
    chmodSync(program, 0o755);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const lineOf = async (page: Page, tab: string) => {
    await page.getByRole('tab', { name: tab, exact: true }).click();
    return (await page.locator('[role=tabpanel] pre').textContent()) ?? '';
  };
  const hash = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
  const wanted = ({ artifacts }: Job, variant: string) => artifacts.find((file) => file.variant === variant)?.sha256;

  test('curl makes the same picture, JavaScript the same clip', async () => {
    const { picture, clip } = jobs;
    let page = await see(`jobs/${picture.id}`, 0);
    await runScript(await lineOf(page, 'curl'), folder);
    expect(hash(`${picture.id}.png`)).toBe(wanted(picture, 'image'));
    await opened?.context.close();
    page = await see(`jobs/${clip.id}`, 1);
    writeFileSync(join(folder, 'again.mjs'), await lineOf(page, 'JavaScript'));
    const { stdout } = await runProgram(process.execPath, ['again.mjs'], { cwd: folder });
    expect(stdout).toContain('step 2 of 2');
    expect(hash(`${clip.id}.mp4`)).toBe(wanted(clip, 'video'));
  });

  test('the command line makes the same controlled clip, the copied request the same job', async () => {
    const { transfer, client } = jobs;
    const page = await see(`jobs/${transfer.id}`, 4);
    await runScript(`PATH="$PWD/bin:$PATH"\n${await lineOf(page, 'Command line')}`, folder);
    expect(await framesHash(folder, `${transfer.id}.mp4`)).toBe(await framesHashOf(client, folder, transfer));
    const form: Record<string, unknown> = JSON.parse(await lineOf(page, 'Request'));
    const again = await finished(client, (await client.createJob(form)).id);
    for (const variant of ['video', 'control_edge', 'control_blur'])
      expect(wanted(again, variant), variant).toBe(wanted(transfer, variant));
  });
});

/** Frames of a file, since a file of the command line names other places of its inputs. */
async function framesHash(folder: string, name: string): Promise<string> {
  const { stdout } = await runProgram('ffmpeg', ['-v', 'error', '-i', name, '-map', '0:v', '-f', 'md5', '-'], {
    cwd: folder,
  });
  return stdout.trim();
}

async function framesHashOf(client: SeenJobs['client'], folder: string, { id }: Job): Promise<string> {
  writeFileSync(join(folder, 'kept.mp4'), new Uint8Array(await (await client.jobContent(id)).arrayBuffer()));
  return framesHash(folder, 'kept.mp4');
}
