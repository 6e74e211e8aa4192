import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/protocol/index.js';
import { inputFrames, mainArtifact, sideParts } from './media-of.js';

const artifact = (variant: Job['artifacts'][number]['variant']) => ({
  variant,
  media_type: /^(video|control_)/.test(variant) ? 'video/mp4' : 'image/webp',
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

describe('sideParts', () => {
  it('has the clip before the maps, given and made ones in the order of the networks', () => {
    const inputs = [input('depth', 'video/mp4'), input('action', 'application/json'), input('video', 'video/mp4')];
    const artifacts = [artifact('control_blur'), artifact('video'), artifact('control_edge'), artifact('thumbnail')];
    expect(sideParts({ inputs, artifacts }).map(({ role, kind, fileId }) => [role, kind, fileId])).toEqual([
      ['video', 'clip', 'file-video'],
      ['edge', 'clip', null],
      ['blur', 'clip', null],
      ['depth', 'clip', 'file-depth'],
    ]);
    expect(sideParts({ inputs: [input('image', 'image/png')], artifacts: [] })[0]?.kind).toBe('picture');
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
