import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { failure, findBuilds } from '../../../test/video-samples.js';
import { type Ffmpeg, findFfmpeg, hasFpsMode, isFitForUploads, summarizeErrors } from './ffmpeg.js';

const folder = mkdtempSync(join(tmpdir(), 'orrery-ffmpeg-'));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);

describe('findFfmpeg', () => {
  it('names the build and takes an explicit path', async () => {
    for (const build of await findBuilds()) expect(build.version).not.toBe('');
    const error = await failure(findFfmpeg({ path: at('no-such-program') }));
    expect([error.code, error.message]).toEqual(['ffmpeg_missing', expect.stringContaining('no-such-program')]);
    expect(error.message).toContain('apt-get install ffmpeg');
    writeFileSync(at('not-ffmpeg'), '#!/bin/sh\necho hello\n');
    chmodSync(at('not-ffmpeg'), 0o755);
    expect((await failure(findFfmpeg({ path: at('not-ffmpeg') }))).code).toBe('ffmpeg_missing');
  });

  it('knows which builds are fit for uploads and which option names they have', () => {
    const build = (version: string, major: number | null): Ffmpeg => ({
      path: 'ffmpeg',
      origin: 'system',
      version,
      major,
    });
    expect(isFitForUploads(build('5.1.9', 5))).toBe(true);
    expect(isFitForUploads({ ...build('5.1.9', 5), origin: 'bundled' })).toBe(false);
    expect(isFitForUploads(build('4.4.2', 4))).toBe(false);
    expect(isFitForUploads(build('N-47683-g0e8eb07980', null))).toBe(false);
    expect(
      [build('4.4.2', 4), build('7.1', 7), build('N-47683-g0', null), build('N-119999-g0', null)].map(hasFpsMode),
    ).toEqual([false, true, false, true]);
    expect([build('2024-02-01-git-x', null), build('2018-02-01-git-x', null)].map(hasFpsMode)).toEqual([true, false]);
  });

  it('summarises complaints', () => {
    expect(
      summarizeErrors('[mov @ 0x55aa] moov atom not found\n[mov @ 0x66] moov atom not found\nConversion failed!\n'),
    ).toBe('[mov] moov atom not found');
    expect(summarizeErrors('')).toBe('no reason given');
  });
});
