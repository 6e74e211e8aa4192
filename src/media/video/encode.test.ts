import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { failure, findBuilds, frame, frames, height, mean, tone, width } from '../../../test/video-samples.js';
import { readArtifactMetadata } from '../artifact-metadata.js';
import { decodeSound } from '../sound/decode-sound.js';
import { frameOf } from '../types.js';
import { codecArguments } from './codec-options.js';
import { decodeVideo } from './decode.js';
import { type EncodeVideoOptions, encodeVideo } from './encode.js';
import { findFfmpeg } from './ffmpeg.js';
import { readMp4 } from './mp4-boxes.js';
import { probeVideo } from './probe.js';

const folder = mkdtempSync(join(tmpdir(), 'orrery-encode-'));
afterAll(() => {
  expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
  rmSync(folder, { recursive: true });
});

const builds = await findBuilds();
const [ffmpeg] = builds;
const at = (name: string): string => join(folder, name);

function encode(name: string, more: Partial<EncodeVideoOptions> = {}) {
  return encodeVideo({ path: at(name), fps: 24, width, height, frames: frames(12), ffmpeg, ...more });
}

describe('encodeVideo', () => {
  it('writes H.264 in BT.709 with AAC, index first, no dates, and keeps frames, fps and colours', async () => {
    for (const build of builds) {
      const result = await encode('plain.mp4', { ffmpeg: build, sound: tone(), fps: 12 });
      expect(result).toMatchObject({ frames: 12, width, height, bytes: statSync(at('plain.mp4')).size });
      const summary = await readMp4(at('plain.mp4'));
      expect(summary).toMatchObject({ complete: true, faststart: true, fragmented: false, comment: null });
      expect(summary.tracks.map(({ kind }) => kind)).toEqual(['video', 'sound']);
      const info = await probeVideo(at('plain.mp4'), { ffmpeg: build });
      expect(info).toMatchObject({
        type: 'mp4',
        width,
        height,
        rotation: 0,
        fps: 12,
        frames: 12,
        hasSound: true,
        codec: 'h264',
      });
      expect(info.duration).toBeCloseTo(1, 1);
      const clip = await decodeVideo(at('plain.mp4'), { ffmpeg: build });
      expect(clip).toMatchObject({ width, height, frames: 12, fps: 12 });
      for (let i = 0; i < 12; i++) {
        const { data } = frameOf(clip, i);
        for (let c = 0; c < 3; c++) expect(Math.abs(mean(data, width, 4, 28, c) - (10 * i + 20))).toBeLessThan(2);
        // A wrong matrix (BT.601) would shift saturated red by ten and more.
        expect(mean(data, width, 40, 60, 0)).toBeGreaterThan(250);
        expect(mean(data, width, 40, 60, 1)).toBeLessThan(4);
      }
    }
  });

  it('gives the same bytes again', async () => {
    for (const build of builds) {
      const more = { ffmpeg: build, sound: tone(), metadata: 'same' };
      await encode('one.mp4', more);
      await encode('two.mp4', more);
      expect(readFileSync(at('one.mp4')).equals(readFileSync(at('two.mp4')))).toBe(true);
    }
  });

  it('carries metadata of a megabyte and gives it back unchanged', async () => {
    const text = JSON.stringify({ prompt: `a=b;#\\ "quoted" \n é 漢 😀 ${'x'.repeat(1_000_000)}`, end: true });
    for (const build of builds) {
      await encode('meta.mp4', { ffmpeg: build, metadata: text });
      expect((await readArtifactMetadata(at('meta.mp4'))) === text).toBe(true);
    }
    expect((await failure(encode('over.mp4', { metadata: 'x'.repeat(2 ** 20 + 1) }))).code).toBe('invalid_argument');
  });

  it('puts the hash of the frames into the metadata', async () => {
    const expected = createHash('sha256');
    for (let i = 0; i < 12; i++) expected.update(frame(i));
    const digest = expected.digest('hex');
    for (const build of builds) {
      const result = await encode('hash.mp4', {
        ffmpeg: build,
        metadata: (sha256) => JSON.stringify({ plan: 'é', sha256 }),
      });
      expect(result.sha256).toBe(digest);
      expect(await readArtifactMetadata(at('hash.mp4'))).toBe(`{"plan":"é","sha256":"${digest}"}`);
    }
    const uneven = encode('uneven.mp4', { metadata: (sha256) => (sha256.startsWith('00') ? 'a' : 'bb') });
    expect((await failure(uneven)).message).toContain('from 1 to 2 bytes');
    expect(existsSync(at('uneven.mp4'))).toBe(false);
  });

  it('stores sound as 48 kHz stereo, one channel on both sides', async () => {
    for (const build of builds) {
      await encode('tone.mp4', { ffmpeg: build, frames: frames(24), sound: tone(24000) });
      const stereo = await decodeSound(at('tone.mp4'), { ffmpeg: build });
      expect(stereo?.sampleRate).toBe(48000);
      const [left, right] = stereo?.channels ?? [];
      expect(level(left)).toBeCloseTo(0.354, 1);
      expect(level(right)).toBeLessThan(0.01);
      const mono = { sampleRate: 48000, channels: [tone().channels[0] ?? new Float32Array(0)] };
      await encode('mono.mp4', { ffmpeg: build, sound: mono });
      const both = await decodeSound(at('mono.mp4'), { ffmpeg: build });
      expect(level(both?.channels[0])).toBeCloseTo(0.354, 1);
      expect(level(both?.channels[1])).toBeCloseTo(0.354, 1);
    }
  });

  it('makes odd sizes even by repeating the border', async () => {
    const result = await encode('odd.mp4', { width: 33, height: 17, frames: frames(3, 33, 17), crf: 1 });
    expect(result).toMatchObject({ width: 34, height: 18, frames: 3 });
    const clip = await decodeVideo(at('odd.mp4'), { ffmpeg });
    expect([clip.width, clip.height]).toEqual([34, 18]);
    expect(mean(frameOf(clip, 0).data, 34, 33, 34, 0)).toBeGreaterThan(245);
  });

  it('keeps broadcast and fractional rates exactly', async () => {
    for (const [fps, numerator, denominator] of [
      [30000 / 1001, 30000, 1001],
      [12.5, 25, 2],
      [7, 7, 1],
    ] as const) {
      await encode('rate.mp4', { fps, frames: frames(4) });
      expect((await probeVideo(at('rate.mp4'), { ffmpeg })).rate).toEqual({ numerator, denominator });
    }
  });

  it('writes a single frame', async () => {
    await encode('single.mp4', { frames: frames(1), fps: 1 });
    expect(await probeVideo(at('single.mp4'), { ffmpeg })).toMatchObject({ frames: 1, fps: 1 });
  });
});

function level(samples: Float32Array | undefined): number {
  const values = samples ?? new Float32Array(0);
  // The middle, away from the encoder's priming.
  const part = values.subarray(Math.floor(values.length / 4), Math.floor((values.length * 3) / 4));
  return Math.sqrt(part.reduce((sum, value) => sum + value * value, 0) / part.length);
}

describe('encodeVideo that fails', () => {
  const inside = (): string[] => readdirSync(at('out'));
  beforeEach(() => {
    rmSync(at('out'), { recursive: true, force: true });
    execFileSync('mkdir', [at('out')]);
  });

  it('refuses what it cannot write, by name', async () => {
    const cases: [Partial<EncodeVideoOptions>, string][] = [
      [{ width: 0 }, '0x48'],
      [{ width: 2.5 }, '2.5x48'],
      [{ fps: Number.NaN }, 'NaN frames per second'],
      [{ fps: 0 }, '0 frames per second'],
      [{ frames: frames(0) }, 'no frames'],
      [{ frames: frames(2, 32, 32) }, 'Frame 0 has 3072 bytes; 64x48 RGB needs 9216'],
      [{ preset: 'hasty' }, 'preset cannot be "hasty"'],
      [{ codecOptions: { filter: 'x' } }, 'Unknown video codec option "filter"'],
      [{ metadata: 'a\0b' }, 'NUL'],
      [{ sound: { sampleRate: 48000, channels: [] } }, '0 channels'],
    ];
    for (const [more, words] of cases) {
      const error = await failure(encode('out/x.mp4', more));
      expect([error.code, error.message]).toEqual(['invalid_argument', expect.stringContaining(words)]);
      expect(inside()).toEqual([]);
    }
  });

  it('passes on the error of the frames and leaves nothing', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield frame(0);
      throw new RangeError('the decoder broke');
    }
    await expect(encode('out/x.mp4', { frames: broken() })).rejects.toThrow(new RangeError('the decoder broke'));
    expect(inside()).toEqual([]);
  });

  it('stops when told, even while it waits for a frame', async () => {
    const stop = new AbortController();
    async function* endless(): AsyncGenerator<Uint8Array> {
      yield frame(0);
      setTimeout(() => stop.abort(), 50);
      await new Promise(() => undefined);
    }
    const error = await failure(encode('out/x.mp4', { frames: endless(), signal: stop.signal }));
    expect(error.code).toBe('aborted');
    expect(inside()).toEqual([]);
    expect((await failure(encode('out/x.mp4', { signal: AbortSignal.abort() }))).code).toBe('aborted');
    expect(inside()).toEqual([]);
  });

  it('tells a folder that is missing or none', async () => {
    const missing = await failure(encode('nowhere/x.mp4'));
    expect([missing.code, missing.message]).toEqual(['unwritable', expect.stringContaining('nowhere')]);
    writeFileSync(at('file'), '');
    expect((await failure(encode('file/x.mp4'))).code).toBe('unwritable');
  });

  it('tells a disk that fills, and keeps what was there before', async () => {
    const wrapper = at('small-disk');
    const real = ffmpeg.path === 'ffmpeg' ? 'ffmpeg' : `'${ffmpeg.path}'`;
    writeFileSync(wrapper, `#!/bin/bash\nulimit -f 8\ntrap '' XFSZ\nexec ${real} "$@"\n`);
    chmodSync(wrapper, 0o755);
    const limited = await findFfmpeg({ path: wrapper });
    writeFileSync(at('out/x.mp4'), 'precious');
    async function* noise(): AsyncGenerator<Uint8Array> {
      let seed = 1;
      for (let i = 0; i < 30; i++) {
        yield Uint8Array.from({ length: width * height * 3 }, () => {
          seed = (seed * 1103515245 + 12345) % 2147483648;
          return seed >> 16;
        });
      }
    }
    const error = await failure(encode('out/x.mp4', { ffmpeg: limited, frames: noise(), crf: 0 }));
    expect([error.code, error.message]).toEqual(['disk_full', expect.stringContaining('no space left')]);
    expect(inside()).toEqual(['x.mp4']);
    expect(readFileSync(at('out/x.mp4'), 'utf8')).toBe('precious');
  });
});

describe('codecArguments', () => {
  it('fills in defaults and lets codecOptions win', () => {
    expect(codecArguments({})).toEqual(['-preset', 'veryfast', '-crf', '18', '-threads:v', '1']);
    expect(codecArguments({ crf: 20, codecOptions: { crf: 30, tune: 'film' } })).toEqual([
      ...['-preset', 'veryfast', '-crf', '30', '-threads:v', '1', '-tune', 'film'],
    ]);
    expect(() => codecArguments({ crf: 52 })).toThrow('crf cannot be "52"');
    expect(() => codecArguments({ codecOptions: { constructor: 1 } })).toThrow('Unknown');
  });
});
