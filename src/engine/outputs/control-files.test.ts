import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { frame, height, mean, width } from '../../../test/video-samples.js';
import { decodeVideo, frameOf, readArtifactMetadata } from '../../media/index.js';
import type { Plan } from '../../pipeline/plan-types.js';
import { ControlFiles, computedControls } from './control-files.js';

const folder = mkdtempSync(join(tmpdir(), 'orrery-controls-'));
afterAll(() => rmSync(folder, { recursive: true }));

const hint = (kind: 'edge' | 'blur' | 'depth', computed: boolean) =>
  ({ kind, computed, weight: 0.5, preset: 'low' }) as const;
const transfer = { hints: [hint('edge', true), hint('blur', true), hint('depth', false)] };
const plan: Plan = JSON.parse(JSON.stringify({ fps: 8, transfer }));

/** Sample frames `from` … `to` - 1 on end. */
const frames = (from: number, to: number) => ({
  data: Buffer.concat(Array.from({ length: to - from }, (_, i) => frame(from + i))),
  count: to - from,
  width,
  height,
});

describe('computedControls', () => {
  it('names the maps that are made, not those that are given', () => {
    expect(computedControls(plan)).toEqual(['edge', 'blur']);
    expect(computedControls({ ...plan, transfer: null })).toEqual([]);
  });
});

describe('ControlFiles', () => {
  it('writes each map chunk by chunk into a clip of its own', async () => {
    const paths = { edge: join(folder, 'edge.mp4'), blur: join(folder, 'blur.mp4') };
    {
      await using files = new ControlFiles(plan, paths, {});
      expect(files.isWanted).toBe(true);
      await files.add({ kind: 'edge', ...frames(0, 5) });
      await files.add({ kind: 'blur', ...frames(3, 8) });
      await new Promise((resolve) => setTimeout(resolve, 50));
      await files.add({ kind: 'edge', ...frames(5, 9) });
      await files.add({ kind: 'blur', ...frames(8, 12) });
      await files.finish();
      expect(Object.values(paths).filter((path) => existsSync(path))).toEqual([]);
      await files.commit();
    }
    expect(readdirSync(folder).sort()).toEqual(['blur.mp4', 'edge.mp4']);
    for (const [path, first] of [
      [paths.edge, 0],
      [paths.blur, 3],
    ] as const) {
      const clip = await decodeVideo(path, {});
      expect(clip).toMatchObject({ width, height, frames: 9, fps: 8 });
      for (let i = 0; i < 9; i++)
        expect(Math.abs(mean(frameOf(clip, i).data, width, 4, 28, 0) - (10 * (first + i) + 20))).toBeLessThan(2);
    }
    expect(await readArtifactMetadata(paths.blur)).toBe('{"control":"blur","preset":"low"}');
  });

  it('leaves maps alone that nobody asked for', async () => {
    await using files = new ControlFiles(plan, {}, {});
    expect(files.isWanted).toBe(false);
    await files.add({ kind: 'edge', ...frames(0, 2) });
    await files.finish();
  });

  it('leaves nothing behind when the run ends before its time', async () => {
    const before = readdirSync(folder);
    {
      await using files = new ControlFiles(plan, { edge: join(folder, 'early.mp4') }, {});
      await files.add({ kind: 'edge', ...frames(0, 4) });
    }
    expect(readdirSync(folder)).toEqual(before);
  });

  it('tells of a clip that cannot be written at the end, and stops with the run', async () => {
    await using lost = new ControlFiles(plan, { edge: join(folder, 'no/such/folder.mp4') }, {});
    await lost.add({ kind: 'edge', ...frames(0, 2) });
    await new Promise((resolve) => setTimeout(resolve, 50));
    await expect(lost.finish()).rejects.toMatchObject({
      code: 'unwritable',
      message: expect.stringContaining(join(folder, 'no/such/folder.mp4')),
    });
    const stop = new AbortController();
    const path = join(folder, 'stopped.mp4');
    await using stopped = new ControlFiles(plan, { edge: path }, { signal: stop.signal });
    await stopped.add({ kind: 'edge', ...frames(0, 2) });
    stop.abort();
    await expect(stopped.finish()).rejects.toMatchObject({ code: 'aborted' });
    expect(existsSync(path)).toBe(false);
  });
});
