import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/protocol/index.js';
import { inputFrames, mainArtifact, visibleInputs } from './media-of.js';

const artifact = (variant: Job['artifacts'][number]['variant']) => ({
  variant,
  media_type: variant === 'video' ? 'video/mp4' : 'image/webp',
  bytes: 1,
  sha256: 'a',
  url: `/${variant}`,
});

const input = (role: string, media_type: string) => ({ role, file_id: `file-${role}`, media_type, bytes: 1, url: '' });

describe('mainArtifact', () => {
  it('is the clip or the picture, never the thumbnail', () => {
    expect(mainArtifact([artifact('thumbnail'), artifact('action'), artifact('video')])?.variant).toBe('video');
    expect(mainArtifact([artifact('thumbnail'), artifact('image')])?.variant).toBe('image');
    expect(mainArtifact([artifact('latents'), artifact('action')])?.variant).toBe('action');
    expect(mainArtifact([artifact('thumbnail')])).toBeNull();
  });
});

describe('visibleInputs', () => {
  it('has the clip before the maps', () => {
    const inputs = [input('edge', 'video/mp4'), input('action', 'application/json'), input('video', 'video/mp4')];
    expect(visibleInputs({ inputs }).map(({ role }) => role)).toEqual(['video', 'edge']);
  });
});

describe('inputFrames', () => {
  it('reads what the plan says and survives what it does not', () => {
    const plan = { inputs: [{ role: 'video', sha256: 'ab', frames: 17 }, { role: 'image', sha256: 'cd' }, null, 'x'] };
    expect([...inputFrames(plan)]).toEqual([['file-ab', 17]]);
    expect(inputFrames(null).size).toBe(0);
    expect(inputFrames({}).size).toBe(0);
  });
});
