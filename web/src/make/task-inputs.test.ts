import { describe, expect, test } from 'vitest';
import { missingInput, type Role, roleFor, type Task, taskFor } from './task-inputs.js';

describe('the task', () => {
  test.each<[readonly Role[], Task, Task]>([
    [['image'], 'text-to-image', 'image-to-video'],
    [['image'], 'text-to-video', 'image-to-video'],
    [['video'], 'text-to-video', 'video-to-video'],
    [['image'], 'policy', 'policy'],
    [['video'], 'image-to-video', 'video-to-video'],
    [['video', 'depth'], 'text-to-video', 'transfer'],
    [['image', 'action'], 'image-to-video', 'forward-dynamics'],
    [['video'], 'transfer', 'transfer'],
    [['image'], 'inverse-dynamics', 'policy'],
    [[], 'image-to-video', 'text-to-video'],
    [[], 'text-to-image', 'text-to-image'],
    [[], 'transfer', 'transfer'],
  ])('of %j while it was %s is %s', (roles, present, expected) => {
    expect(taskFor(roles, present)).toBe(expected);
  });
});

describe('a dropped file', () => {
  const picture = (name: string) => ({ name, kind: 'image' as const });
  const clip = (name: string) => ({ name, kind: 'video' as const });
  test('is the first picture or the clip', () => {
    expect(roleFor(picture('a.png'), 'text-to-video', [])).toBe('image');
    expect(roleFor(clip('a.mp4'), 'text-to-image', [])).toBe('video');
  });
  test('is a control map where its name says so, or the clip is there already', () => {
    expect(roleFor(clip('street-depth.mp4'), 'text-to-video', [])).toBe('depth');
    expect(roleFor(picture('canny_1.png'), 'transfer', ['video'])).toBe('edge');
    expect(roleFor(clip('b.mp4'), 'transfer', [])).toBe('video');
    expect(roleFor(clip('b.mp4'), 'transfer', ['video', 'edge'])).toBe('blur');
    expect(roleFor(clip('hedge.mp4'), 'text-to-video', [])).toBe('video');
  });
});

test('what a task still needs', () => {
  expect(missingInput('image-to-video', [])).toBe('image');
  expect(missingInput('forward-dynamics', ['action'])).toBe('either');
  expect(missingInput('forward-dynamics', ['image'])).toBe('action');
  expect(missingInput('transfer', ['depth'])).toBeNull();
  expect(missingInput('policy', ['video'])).toBeNull();
});
