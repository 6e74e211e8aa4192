import { describe, expect, it } from 'vitest';
import { readWarmUpShape } from './warm-up.js';

describe('readWarmUpShape', () => {
  it('reads pictures, clips and tasks', () => {
    expect(readWarmUpShape('1024x768')).toEqual({ width: 1024, height: 768, frames: 1, task: 'text-to-image' });
    expect(readWarmUpShape('832x480x49')).toEqual({ width: 832, height: 480, frames: 49, task: 'text-to-video' });
    expect(readWarmUpShape(' 832x480x49:image-to-video')).toMatchObject({ frames: 49, task: 'image-to-video' });
  });

  it.each([
    ['1024', 'warmup must be shapes as'],
    ['832x480x49:transfer', 'transfer cannot be warmed up'],
    ['832x480x49:text-to-vdeo', 'did you mean text-to-video?'],
    ['832x480:text-to-video', 'a clip needs frames, as 832x480x49:text-to-video'],
    ['832x480x5:text-to-image', 'a picture has one frame'],
  ])('refuses %s', (text, message) => {
    expect(() => readWarmUpShape(text)).toThrow(message);
  });
});
