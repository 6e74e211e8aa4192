import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type Ffmpeg, findFfmpeg, MediaError, probeVideo, readArtifactMetadata } from '../../media/index.js';
import type { Plan } from '../../pipeline/plan-types.js';
import type { Provenance } from '../provenance/provenance.js';
import { ClipEncoder } from './clip-encoder.js';
import { FrameQueue } from './frame-queue.js';
import { OutputFiles } from './output-files.js';
import { readOutputTargets } from './output-target.js';

const folder = mkdtempSync(join(tmpdir(), 'orrery-output-files-'));
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(() => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
});

const size = { width: 64, height: 48 };
const frameBytes = size.width * size.height * 3;
const ffmpeg = await findFfmpeg();
const broken: Ffmpeg = { ...ffmpeg, path: '/bin/false' };
const origin: Omit<Provenance, 'framesSha256'> = {
  orrery: 1,
  plan: { fps: 24 } as Plan,
  fingerprint: { orrery: '0', checkpoint: 'c', device: 'cpu', blas: 'b', node: '20', ffmpeg: null },
  inputs: { model: null, image: null, video: null, controls: {} },
  codecOptions: {},
};

/** Grey frames, each a little lighter. */
function frames(count: number): Uint8Array {
  return Uint8Array.from({ length: count * frameBytes }, (_, i) => 20 + 5 * Math.floor(i / frameBytes));
}

const at = (name: string) => join(folder, name);
const targets = (...names: string[]) => readOutputTargets(names.map(at));
const nothingElse = { sound: null, action: null, latents: [] };

async function failure(work: Promise<unknown>): Promise<MediaError> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(MediaError);
  return error as MediaError;
}

describe('FrameQueue', () => {
  it('hands frames on in order, and holds whoever adds some until they are taken', async () => {
    const queue = new FrameQueue();
    const log: string[] = [];
    const adding = (async () => {
      for (let i = 0; i < 4; i++) {
        expect(await queue.add(Uint8Array.of(i, i, i, i, i, i), 2)).toBe(true);
        log.push(`added ${i}`);
      }
      queue.end();
    })();
    await wait(5);
    expect(log).toEqual([]);
    for await (const frame of queue.read()) log.push(`read ${frame.join('')}`);
    await adding;
    expect(log).toEqual([0, 1, 2, 3].flatMap((i) => [`read ${i}${i}${i}`, `read ${i}${i}${i}`, `added ${i}`]));
  });

  it('holds nobody once its reader has left', async () => {
    const queue = new FrameQueue();
    const adding = queue.add(new Uint8Array(8), 2);
    for await (const _ of queue.read()) break;
    expect(await adding).toBe(false);
    expect(await queue.add(new Uint8Array(8), 2)).toBe(false);
  });

  it('gives its reader the error instead of what waits', async () => {
    const queue = new FrameQueue();
    const adding = queue.add(new Uint8Array(8), 2);
    queue.fail(new Error('no more'));
    await expect(queue.read().next()).rejects.toThrow('no more');
    expect(await adding).toBe(false);
  });
});

describe('ClipEncoder', () => {
  it('takes frames in while more are to come', async () => {
    await using clip = new ClipEncoder({ path: at('a.mp4'), fps: 24, ...size, ffmpeg });
    for (let i = 0; i < 60; i++) await clip.add(frames(1), 1);
    expect(await clip.finish()).toMatchObject({ frames: 60 });
  });

  it('leaves nothing when given up', async () => {
    {
      await using clip = new ClipEncoder({ path: at('b.mp4'), fps: 24, ...size, ffmpeg });
      await clip.add(frames(12), 12);
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  it('tells the next one who adds, or the end, that the encoder has failed', async () => {
    await using clip = new ClipEncoder({ path: at('c.mp4'), fps: 24, ...size, ffmpeg: broken });
    const add = async () => {
      for (let i = 0; i < 100; i++) await clip.add(frames(4), 4);
    };
    expect((await failure(add())).code).toBe('ffmpeg_failed');
    expect((await failure(clip.finish())).code).toBe('ffmpeg_failed');
  });
});

describe('OutputFiles', () => {
  const sha256 = createHash('sha256').update(frames(9)).digest('hex');

  it('writes every form with the same provenance, the hash of all frames in it', async () => {
    await using outputs = new OutputFiles(targets('a.mp4', 'a.json', 'a.png', 'b.mp4', 'a.wav'), { origin, ffmpeg });
    const sound = { sampleRate: 48_000, channels: [new Float32Array(18_000).fill(0.1)] };
    const all = frames(9);
    await outputs.addFrames({ data: all.subarray(0, 5 * frameBytes), count: 5, ...size }, sound);
    await outputs.addFrames({ data: all.subarray(5 * frameBytes), count: 4, ...size }, sound);
    expect(readdirSync(folder).filter((name) => !name.startsWith('.'))).toEqual([]);
    const { files, framesSha256 } = await outputs.finish({ ...nothingElse, sound });
    expect(framesSha256).toBe(sha256);
    expect(files.map(({ kind }) => kind)).toEqual(['mp4', 'json', 'png', 'mp4', 'wav']);
    const text = JSON.stringify({ ...origin, framesSha256: sha256 });
    for (const name of ['a.mp4', 'a.png', 'b.mp4', 'a.wav']) expect(await readArtifactMetadata(at(name))).toBe(text);
    expect(JSON.parse(readFileSync(at('a.json'), 'utf8'))).toMatchObject({ framesSha256: sha256 });
    expect(await probeVideo(at('a.mp4'), { ffmpeg })).toMatchObject({ frames: 9, hasSound: true, ...size });
    expect(readFileSync(at('b.mp4')).equals(readFileSync(at('a.mp4')))).toBe(true);
    expect(readdirSync(folder).sort()).toEqual(['a.json', 'a.mp4', 'a.png', 'a.wav', 'b.mp4']);
  });

  it('hashes frames that no clip takes', async () => {
    await using outputs = new OutputFiles(targets('a.json'), { origin, ffmpeg: null });
    await outputs.addFrames({ data: frames(9), count: 9, ...size }, null);
    expect((await outputs.finish(nothingElse)).framesSha256).toBe(sha256);
    expect(outputs).toMatchObject({ count: 9, first: size });
  });

  it('leaves nothing of a run that ends early, also where the encoder waits for frames', async () => {
    {
      await using outputs = new OutputFiles(targets('a.mp4'), { origin, ffmpeg });
      await outputs.addFrames({ data: frames(5), count: 5, ...size }, null);
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  it('leaves nothing when it is stopped or the encoder fails, and speaks of the path that was asked for', async () => {
    const stop = new AbortController();
    {
      await using outputs = new OutputFiles(targets('a.mp4'), { origin, ffmpeg, signal: stop.signal });
      await outputs.addFrames({ data: frames(5), count: 5, ...size }, null);
      stop.abort();
      expect(await failure(outputs.finish(nothingElse))).toMatchObject({
        code: 'aborted',
        message: `Writing ${at('a.mp4')} was stopped.`,
      });
    }
    {
      await using outputs = new OutputFiles(targets('a.mp4'), { origin, ffmpeg: broken });
      // A pipe may take a few frames before its reader is known to be gone.
      const work = async () => {
        await outputs.addFrames({ data: frames(5), count: 5, ...size }, null);
        await outputs.finish(nothingElse);
      };
      const { message } = await failure(work());
      expect(message).toMatch(new RegExp(`^Cannot encode ${at('a.mp4')}: `));
    }
    expect(readdirSync(folder)).toEqual([]);
  });
});
