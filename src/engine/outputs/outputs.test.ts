import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readOutputTargets } from './output-target.js';
import { StagedFiles } from './staged-files.js';

const folder = mkdtempSync(join(tmpdir(), 'orrery-outputs-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('readOutputTargets', () => {
  it('tells kinds by extension, whatever its case', () => {
    expect(readOutputTargets(['a.MP4', 'b.jpeg', 'c.jpg', 'd.safetensors']).map(({ kind }) => kind)).toEqual([
      'mp4',
      'jpeg',
      'jpeg',
      'safetensors',
    ]);
  });

  it.each([
    [['a'], 'output a must end in one of .mp4 .png .jpg .jpeg .webp .wav .json .safetensors'],
    [['a.avi'], 'output a.avi must end in'],
    [['a.png', './a.png'], 'output ./a.png is given twice'],
  ])('refuses %j', (paths, message) => {
    expect(() => readOutputTargets(paths)).toThrow(message);
  });
});

describe('StagedFiles', () => {
  it('moves files to their places together', async () => {
    const [a, b] = [join(folder, 'a.json'), join(folder, 'b.json')];
    writeFileSync(b, 'old');
    await using staged = new StagedFiles();
    writeFileSync(await staged.stage(a), 'new a');
    writeFileSync(await staged.stage(b), 'new b');
    expect(existsSync(a)).toBe(false);
    expect(readFileSync(b, 'utf8')).toBe('old');
    await staged.commit();
    expect([a, b].map((path) => readFileSync(path, 'utf8'))).toEqual(['new a', 'new b']);
  });

  it('removes what was not committed', async () => {
    const before = readdirSync(folder);
    {
      await using staged = new StagedFiles();
      writeFileSync(await staged.stage(join(folder, 'c.json')), 'half');
      expect(readdirSync(folder)).toHaveLength(before.length + 1);
    }
    expect(readdirSync(folder)).toEqual(before);
  });

  it('replaces what a link points to, and writes into devices', async () => {
    const [target, link, full] = ['target.json', 'link.json', 'full.json'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(target, 'old');
    symlinkSync(target, link);
    symlinkSync('/dev/full', full);
    const staged = new StagedFiles();
    writeFileSync(await staged.stage(link), 'new');
    await staged.commit();
    expect(readFileSync(target, 'utf8')).toBe('new');
    await using device = new StagedFiles();
    writeFileSync(await device.stage(full), 'x'.repeat(10_000));
    await expect(device.commit()).rejects.toThrow(/no space left/);
  });
});
