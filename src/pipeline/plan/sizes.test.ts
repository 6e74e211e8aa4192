import { describe, expect, it } from 'vitest';
import { inputFacts, planOf, refusalOf } from '../../../test/pipeline/plan-facts.js';
import { exactLabel, nearestLabel, parseAspect } from '../prompts/aspect-labels.js';
import { bucketTier, nearestBucket, sizeByArea } from './sizes.js';

describe('buckets', () => {
  it.each([
    ['256', 1, 1, 256, 256],
    ['256', 4, 3, 320, 256],
    ['256', 3, 4, 256, 320],
    ['256', 16, 9, 320, 192],
    ['256', 9, 16, 192, 320],
    ['480', 1, 1, 640, 640],
    ['480', 4, 3, 736, 544],
    ['480', 3, 4, 544, 736],
    ['480', 16, 9, 832, 480],
    ['480', 9, 16, 480, 832],
    ['480', 2, 3, 512, 768],
    ['704', 1, 1, 960, 960],
    ['704', 4, 3, 1088, 832],
    ['704', 3, 4, 832, 1088],
    ['704', 16, 9, 1280, 704],
    ['704', 9, 16, 704, 1280],
    ['720', 1, 1, 960, 960],
    ['720', 4, 3, 1104, 832],
    ['720', 3, 4, 832, 1104],
    ['720', 16, 9, 1280, 720],
    ['720', 9, 16, 720, 1280],
  ])('%s at %d:%d is %dx%d', (tier, w, h, width, height) => {
    expect(nearestBucket(bucketTier(tier, 'action'), { width: w, height: h })).toMatchObject({ width, height });
  });

  it('refuses an unknown tier', () => {
    const error = refusalOf(
      { task: 'policy', action: { domainId: 7, rawActionDim: 10 }, resolution: '1080' },
      { image: inputFacts(64, 64) },
    );
    expect(error.message).toContain(
      "Unsupported Cosmos3 action resolution='1080'; expected one of [256, 480, 704, 720].",
    );
    expect(error.param).toBe('resolution');
  });

  it('serve ordinary clips that name a tier', () => {
    expect(planOf({ resolution: '256' }).canvas).toEqual({ width: 320, height: 192 });
    expect(planOf({ resolution: '480', aspectRatio: '9:16' }).canvas).toEqual({ width: 480, height: 832 });
    expect(planOf({ resolution: '256' }, { image: inputFacts(100, 100) }).canvas).toEqual({ width: 256, height: 256 });
  });
});

describe('size of a source', () => {
  it.each([
    [320, 160, 1344, 672],
    [1280, 720, 1280, 720],
    [200, 150, 1104, 816],
    [150, 200, 816, 1104],
    [1000, 1000, 960, 960],
    [100_000, 1, 303_568, 16],
  ])('%dx%d gets %dx%d', (w, h, width, height) => {
    const size = sizeByArea({ width: 1280, height: 720 }, { width: w, height: h }, 16);
    expect(size).toEqual({ width, height });
  });

  it('fills only the side that is missing', () => {
    expect(planOf({ height: 320 }, { image: inputFacts(320, 160) }).canvas).toEqual({ width: 1344, height: 320 });
    expect(planOf({}, { video: inputFacts(320, 160, 9, 24) }).canvas).toEqual({ width: 1344, height: 672 });
  });
});

describe('stated sizes', () => {
  it.each([
    [
      { width: 144, height: 80 },
      { width: 144, height: 80 },
    ],
    [
      { width: 7680, height: 4320 },
      { width: 7680, height: 4320 },
    ],
    [
      { width: 16, height: 16 },
      { width: 16, height: 16 },
    ],
  ])('%j is taken', (request, canvas) => {
    expect(planOf(request).canvas).toEqual(canvas);
  });

  it.each([
    [{ width: 0, height: 0 }, 'width', 'width is 0 in 0x0; give a multiple of 16'],
    [{ width: 100_001, height: 100_001 }, 'size', 'size 100001x100001 has 10000200001 pixels; at most 33177600'],
    [{ width: 7696, height: 4320 }, 'size', 'at most 33177600'],
    [{ width: 100, height: 96 }, 'width', 'width is 100 in 100x96; it must be a multiple of 16: give 96 or 112'],
    [{ width: 96, height: 8 }, 'height', 'height is 8 in 96x8; it must be a multiple of 16: give 16'],
    [{ width: 96.5 }, 'width', 'width is 96.5'],
    [{ width: -16 }, 'width', 'width is -16'],
    [{ height: Number.NaN }, 'height', 'height is NaN'],
  ])('%j is refused', (request, param, part) => {
    const error = refusalOf(request);
    expect(error.param).toBe(param);
    expect(error.message).toContain(part);
  });
});

describe('aspect labels', () => {
  it.each([
    [1104, 816, '4,3'],
    [832, 468, '16,9'],
    [1280, 720, '16,9'],
    [736, 544, '4,3'],
    [480, 832, '9,16'],
    [96, 96, '1,1'],
    [512, 768, '3,4'],
  ])('the nearest to %dx%d is %s', (width, height, label) => {
    expect(nearestLabel({ width, height })).toBe(label);
  });

  it.each([
    [320, 256, '4,3'],
    [320, 192, '16,9'],
    [736, 544, '4,3'],
    [512, 768, '2,3'],
    [640, 480, '4,3'],
    [1344, 576, '7,3'],
  ])('of exactly %dx%d is %s', (width, height, label) => {
    expect(exactLabel({ width, height })).toBe(label);
  });

  it.each(['16', '16,0', 'a,b', '16,9,1', '', '-1,2'])('%j is none', (text) => {
    expect(() => parseAspect(text)).toThrow(/give two positive numbers/);
  });
});
