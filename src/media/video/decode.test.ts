import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure, findBuilds, frames, height, mean, tone, width } from '../../../test/video-samples.js';
import { decodeSound } from '../sound/decode-sound.js';
import { frameOf } from '../types.js';
import { decodeFrames, decodeVideo } from './decode.js';
import { type EncodeVideoOptions, encodeVideo } from './encode.js';
import { parseProbe, probeVideo } from './probe.js';

const folder = mkdtempSync(join(tmpdir(), 'orrery-decode-'));
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

describe('decodeVideo', () => {
  beforeAll(async () => {
    await encode('source.mp4', { frames: frames(20), fps: 30 });
  });

  const shades = async (options: object): Promise<number[]> => {
    const clip = await decodeVideo(at('source.mp4'), { ffmpeg, ...options });
    return Array.from({ length: clip.frames }, (_, i) =>
      Math.round((mean(frameOf(clip, i).data, width, 4, 28, 0) - 20) / 10),
    );
  };

  it('keeps the first or the last frames', async () => {
    expect(await shades({ maxFrames: 5 })).toEqual([0, 1, 2, 3, 4]);
    expect(await shades({ maxFrames: 3, keep: 'last' })).toEqual([17, 18, 19]);
    expect(await shades({ maxFrames: 99, keep: 'last' })).toHaveLength(20);
    expect(await shades({})).toHaveLength(20);
    expect((await failure(shades({ maxFrames: 0 }))).message).toContain('0 frames');
  });

  it('streams, and ends ffmpeg when the loop ends', async () => {
    const seen: number[] = [];
    for await (const { data } of decodeFrames(at('source.mp4'), { ffmpeg })) {
      seen.push(data.length);
      if (seen.length === 2) break;
    }
    expect(seen).toEqual([9216, 9216]);
  });

  it('neither drops nor doubles frames of uneven rate', async () => {
    // Every third frame is taken out but the others keep their times.
    ffmpegMake(['-i', at('source.mp4'), '-vf', "select='not(eq(mod(n,3),1))'", '-vsync', '0', at('uneven.mkv')]);
    const clip = await decodeVideo(at('uneven.mkv'), { ffmpeg });
    expect(clip.frames).toBe(13);
  });

  it('turns rotated videos upright', async () => {
    for (const build of builds) {
      rotate(at('source.mp4'), at('turned.mp4'));
      const info = await probeVideo(at('turned.mp4'), { ffmpeg: build });
      expect(info).toMatchObject({ width: height, height: width, rotation: 90 });
      const clip = await decodeVideo(at('turned.mp4'), { ffmpeg: build, maxFrames: 1 });
      expect([clip.width, clip.height]).toEqual([height, width]);
      // Turned clockwise, the red right half lies below.
      expect(clip.data[(60 * clip.width + 24) * 3]).toBeGreaterThan(240);
      expect(clip.data[(4 * clip.width + 24) * 3]).toBeLessThan(60);
    }
  });

  it('reads GIF and Matroska', async () => {
    ffmpegMake(['-i', at('source.mp4'), at('source.gif')]);
    ffmpegMake(['-i', at('source.mp4'), '-c', 'copy', at('source.mkv')]);
    expect(await decodeVideo(at('source.gif'), { ffmpeg, maxFrames: 2 })).toMatchObject({ width, height, frames: 2 });
    expect(await decodeVideo(at('source.mkv'), { ffmpeg })).toMatchObject({ frames: 20, fps: 30 });
    expect(await probeVideo(at('source.mkv'), { ffmpeg })).toMatchObject({ type: 'webm', frames: 20 });
  });

  it('limits pixels and memory', async () => {
    expect((await failure(decodeVideo(at('source.mp4'), { ffmpeg, maxPixels: 1000 }))).code).toBe('too_large');
    const error = await failure(decodeVideo(at('source.mp4'), { ffmpeg, maxBytes: 3 * 9216 }));
    expect([error.code, error.message]).toEqual(['too_large', expect.stringContaining('more than 3 frames of 64x48')]);
  });

  it('tells what is wrong with a file in one line', async () => {
    const whole = statSync(at('source.mp4')).size;
    writeFileSync(at('cut.mp4'), readFileSync(at('source.mp4')));
    truncateSync(at('cut.mp4'), Math.floor(whole * 0.7));
    writeFileSync(at('headless.mp4'), readFileSync(at('source.mp4')).subarray(0, 100));
    writeFileSync(at('words.mp4'), 'These are words.');
    writeFileSync(at('garbage.mkv'), Buffer.concat([Buffer.from('1a45dfa3', 'hex'), Buffer.alloc(400, 7)]));
    ffmpegMake(['-f', 'lavfi', '-i', 'sine=d=1', '-c:a', 'aac', at('sound-only.mp4')]);
    const codes: [string, string, string][] = [
      ['missing.mp4', 'missing_file', 'File not found'],
      ['cut.mp4', 'truncated', 'cut short'],
      ['headless.mp4', 'truncated', 'cut short'],
      ['words.mp4', 'unsupported_type', 'not a video: its content is text'],
      ['garbage.mkv', 'unreadable', 'garbage.mkv'],
      ['sound-only.mp4', 'unreadable', 'no video'],
    ];
    for (const [name, code, words] of codes) {
      const error = await failure(decodeVideo(at(name), { ffmpeg }));
      expect([name, error.code, error.message]).toEqual([name, code, expect.stringContaining(words)]);
      expect((await failure(probeVideo(at(name), { ffmpeg }))).code).toBe(code);
    }
  });

  it('tolerates stray bytes at the end', async () => {
    const source = readFileSync(at('source.mp4'));
    writeFileSync(at('stray.mp4'), Buffer.concat([source, Buffer.alloc(5, 9)]));
    expect((await decodeVideo(at('stray.mp4'), { ffmpeg })).frames).toBe(20);
  });

  it('can be stopped', async () => {
    const stop = new AbortController();
    const reading = (async () => {
      for await (const _ of decodeFrames(at('source.mp4'), { ffmpeg, signal: stop.signal })) stop.abort();
    })();
    expect((await failure(reading)).code).toBe('aborted');
  });

  it('does not follow a playlist to other files', async () => {
    writeFileSync(at('list.mp4'), `ffconcat version 1.0\nfile '${at('source.mp4')}'\n`);
    expect((await failure(decodeVideo(at('list.mp4'), { ffmpeg }))).code).toBe('unsupported_type');
  });
});

/** Makes a test file with the ffmpeg under test. */
function ffmpegMake(args: readonly string[]): void {
  execFileSync(ffmpeg.path, ['-v', 'error', '-y', ...args]);
}

/** Copies an MP4 with the display matrix of its first track set to a clockwise quarter turn. */
function rotate(from: string, to: string): void {
  const bytes = readFileSync(from);
  const matrix = bytes.indexOf('tkhd') + 4 + 40;
  [0, 0x10000, 0, -0x10000, 0, 0, 48 << 16, 0, 0x40000000].forEach((value, i) => {
    bytes.writeInt32BE(value, matrix + 4 * i);
  });
  writeFileSync(to, bytes);
}

describe('decodeSound', () => {
  it('gives null where there is none and errors for what is broken', async () => {
    for (const build of builds) {
      await encode('silent.mp4', { frames: frames(2) });
      expect(await decodeSound(at('silent.mp4'), { ffmpeg: build })).toBeNull();
    }
    expect((await failure(decodeSound(at('missing.wav'), { ffmpeg }))).code).toBe('missing_file');
    writeFileSync(at('words.wav'), 'words');
    expect((await failure(decodeSound(at('words.wav'), { ffmpeg }))).code).toBe('unsupported_type');
    await encode('long.mp4', { frames: frames(2), sound: tone() });
    expect((await failure(decodeSound(at('long.mp4'), { ffmpeg, maxSeconds: 0.5 }))).code).toBe('too_large');
  });
});

describe('parseProbe', () => {
  const report = (line: string): string =>
    `Input #0\n  Duration: 00:01:02.50, start: 0.0\n    Stream #0:0: Video: ${line}\n`;

  it('reads rates, sizes and lengths from the report alone', () => {
    expect(
      parseProbe(
        report('vp9 (Profile 0), yuv420p(tv), 640x360, SAR 1:1 DAR 16:9, 23.98 fps, 23.98 tbr, 1k tbn'),
        'webm',
        null,
      ),
    ).toEqual({
      type: 'webm',
      width: 640,
      height: 360,
      rotation: 0,
      rate: { numerator: 24000, denominator: 1001 },
      fps: 24000 / 1001,
      frames: 1499,
      duration: 62.5,
      hasSound: false,
      codec: 'vp9',
    });
    expect(parseProbe(report('h264, yuv420p, 1920x1080 [SAR 1:1], 1k fps, 1k tbr'), 'webm', null)?.fps).toBe(1000);
    expect(parseProbe(report('gif, bgra, 8x6, 10 tbr'), 'gif', null)?.fps).toBe(10);
    expect(parseProbe('Input #0\n  Duration: N/A\n', 'webm', null)).toBeNull();
  });
});
