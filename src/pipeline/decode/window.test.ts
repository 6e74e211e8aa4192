import { expect, it } from 'vitest';
import { latentFramesPerWindow } from './window.js';

it.each([
  [320, 192, 4],
  [832, 480, 4],
  [1280, 720, 2],
  [1920, 1088, 1],
  [4096, 4096, 1],
])('a window of %dx%d has %d latent frames', (width, height, frames) => {
  expect(latentFramesPerWindow({ width, height }, 4)).toBe(frames);
});
