// Small inputs for command-line tests.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeImage, encodeVideo } from '../../src/media/index.js';

export const width = 64;
export const height = 48;

function frame(i: number): Uint8Array {
  return Uint8Array.from({ length: width * height * 3 }, (_, at) => (at * 7 + i * 31) % 256);
}

async function* frames(count: number): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < count; i++) yield frame(i);
}

/** Writes picture.png, clip.mp4 (9 frames, 12 fps), and what is wrong with each kind: notes.png, cut.mp4, ragged.json, … */
export async function writeSamples(folder: string): Promise<void> {
  const path = (name: string) => join(folder, name);
  writeFileSync(path('picture.png'), await encodeImage({ width, height, data: frame(0) }, { format: 'png' }));
  await encodeVideo({ path: path('clip.mp4'), width, height, fps: 12, frames: frames(9) });
  const clip = readFileSync(path('clip.mp4'));
  writeFileSync(path('cut.mp4'), clip.subarray(0, Math.floor(clip.length * 0.6)));
  writeFileSync(path('notes.png'), 'These are notes, not a picture.\n');
  writeFileSync(path('actions.json'), JSON.stringify(Array.from({ length: 8 }, (_, t) => Array(9).fill(t / 10))));
  writeFileSync(path('narrow.json'), JSON.stringify(Array.from({ length: 8 }, () => Array(4).fill(0.5))));
  writeFileSync(path('ragged.json'), '[[1, 2, 3], [1, 2]]');
  writeFileSync(path('nan.json'), '[[1, NaN, 3]]');
}
