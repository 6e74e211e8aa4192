import { describe, expect, it } from 'vitest';
import { inputFacts, planOf, refusalOf, warningsOf } from '../../../test/pipeline/plan-facts.js';

const image = inputFacts(320, 160);
const video = inputFacts(320, 160, 50, 30);

describe('length', () => {
  it.each([
    [{ frames: 1 }, 1],
    [{ frames: 2 }, 5],
    [{ frames: 5 }, 5],
    [{ frames: 48 }, 49],
    [{ frames: 189 }, 189],
    [{ frames: 5000 }, 5001],
    [{ seconds: 3 }, 73],
    [{ seconds: 10, fps: 12.5 }, 125],
    [{ seconds: 4, frames: 9 }, 9],
  ])('%j makes %d frames', (request, frames) => {
    expect(planOf(request).frames).toBe(frames);
  });

  it('tells what it rounded', () => {
    expect(warningsOf({ frames: 48 })).toEqual([
      { param: 'num_frames', message: 'num_frames 48 was rounded up to 49: clips are made in lengths of 4k+1' },
    ]);
    expect(warningsOf({ frames: 49 })).toEqual([]);
    expect(warningsOf({ task: 'text-to-image', frames: 9 })[0]?.message).toContain('a picture has one frame');
  });

  it.each([
    [{ frames: 0 }, 'num_frames is 0'],
    [{ frames: -3 }, 'num_frames is -3'],
    [{ frames: 2.5 }, 'num_frames is 2.5; it must be a whole number from 1 to 5001'],
    [{ frames: 5002 }, 'num_frames is 5002'],
    [{ fps: 0.5 }, 'fps is 0.5; it must be a number from 1 to 1000'],
    [{ fps: Number.NaN }, 'fps is NaN'],
    [{ fps: Number.POSITIVE_INFINITY }, 'fps is Infinity'],
    [{ seconds: 1000 }, 'make 24000 frames; at most 5001 can be made: ask for at most 208 seconds'],
    [{ seconds: -1 }, 'seconds is -1'],
  ])('%j is refused', (request, part) => {
    expect(refusalOf(request).message).toContain(part);
  });
});

describe('conditioning', () => {
  it('of an image is its first latent frame', () => {
    expect(planOf({}, { image }).condition).toEqual({
      source: 'image',
      latentFrames: [0],
      pixelFrames: 1,
      keep: 'first',
      fit: 'cover',
    });
  });

  it.each([
    [undefined, [0, 1], 5],
    [[0, 2], [0, 2], 9],
    [[2, 0, 2], [0, 2], 9],
    [[0], [0], 1],
    [[0, 47], [0, 47], 189],
  ])('of a clip by %j', (conditionFrames, latentFrames, pixelFrames) => {
    const planned = planOf(conditionFrames ? { conditionFrames, conditionKeep: 'last' } : {}, { video });
    const keep = conditionFrames ? 'last' : 'first';
    expect(planned.condition).toEqual({ source: 'video', latentFrames, pixelFrames, keep, fit: 'cover' });
  });

  it.each([
    [{ conditionFrames: [] }, 'Cosmos3 condition_frame_indexes_vision must contain at least one index.'],
    [{ conditionFrames: [0, -1] }, 'Cosmos3 condition_frame_indexes_vision must be non-negative, got [-1, 0]'],
    [
      { conditionFrames: [0, 5], frames: 17 },
      'Cosmos3 condition_frame_indexes_vision contains indexes outside the latent video: indexes=[0, 5], latent_frames=5',
    ],
    [{ frames: 1 }, 'indexes=[0, 1], latent_frames=1'],
    [{ conditionFrames: [0.5] }, 'indexes=[0.5]'],
  ])('%j is refused', (request, part) => {
    const error = refusalOf(request, { video });
    expect(error.message).toContain(part);
    expect(error.param).toBe('condition_frame_indexes_vision');
  });

  it('refuses an unknown end', () => {
    const request = JSON.parse('{"conditionKeep":"middle"}');
    expect(refusalOf(request, { video }).message).toContain(
      "Cosmos3 condition_video_keep must be either 'first' or 'last'.",
    );
  });

  it('of words alone is none', () => {
    expect(planOf({}).condition).toBeNull();
  });
});

describe('sound', () => {
  it.each([
    [{ frames: 189 }, 378_000, 197],
    [{ frames: 9 }, 18_000, 10],
    [{ frames: 9, soundDuration: 7.875 }, 378_000, 197],
    [{ frames: 9, soundDuration: 0.04 }, 2000, 2],
    [{ frames: 9, soundDuration: 1 / 3 }, 16_000, 9],
    [{ frames: 9, soundDuration: 0.04, fps: 25 }, 1920, 1],
  ])('%j has %d samples and %d latent frames', (request, samples, latentFrames) => {
    expect(planOf({ ...request, sound: true }).sound).toEqual({ samples, latentFrames, trim: true });
  });

  it('goes with image and clip', () => {
    expect(planOf({ sound: true, frames: 9 }, { image }).sound?.samples).toBe(18_000);
    expect(planOf({ sound: true, frames: 9 }, { video }).sound?.samples).toBe(18_000);
    expect(planOf({}).sound).toBeNull();
  });

  it('is warned about where it does not fit', () => {
    expect(warningsOf({ soundDuration: 3 })[0]?.param).toBe('sound_duration');
    expect(warningsOf({ sound: true, soundDuration: 0.001 })[0]?.message).toContain('was raised to one frame');
  });

  it.each([0, -1, Number.NaN, 1e9])('of %d seconds is refused', (soundDuration) => {
    expect(refusalOf({ sound: true, soundDuration }).message).toContain(`sound_duration is ${soundDuration}`);
  });
});
