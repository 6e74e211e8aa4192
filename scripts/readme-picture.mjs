// Makes README's moving picture: clips of the small checkpoint side by side as an animated WebP.
//   node scripts/readme-picture.mjs docs/ball.webp 1 "A red ball rolls to the right." ["A blue square bounces on the floor." …]
// (output, seed of the first clip, prompts). Needs the built package and ffmpeg.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';

const [output, seed, ...prompts] = process.argv.slice(2);
if (prompts.length === 0) throw new Error('usage: node scripts/readme-picture.mjs OUTPUT SEED PROMPT …');
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { Orrery } = await import(join(root, 'dist/index.js'));
const { decodeVideo } = await import(join(root, 'dist/media/index.js'));

const limitBytes = 300_000;
const gap = 4;
const folder = mkdtempSync(join(tmpdir(), 'orrery-picture-'));
const engine = await Orrery.load();
const clips = [];
for (const [i, prompt] of prompts.entries()) {
  const path = join(folder, `${i}.mp4`);
  await engine.generate({ prompt, seed: Number(seed) + i }, { output: path }).result();
  clips.push(await decodeVideo(path));
}
await engine[Symbol.asyncDispose]();
rmSync(folder, { recursive: true });

const { width, height, frames } = clips[0];
const wide = clips.length * (width + gap) - gap;
const sheet = Buffer.alloc(frames * height * wide * 3, 255);
for (let row = 0; row < frames * height; row++)
  for (const [i, { data }] of clips.entries())
    sheet.set(data.subarray(row * width * 3, (row + 1) * width * 3), (row * wide + i * (width + gap)) * 3);

const raw = { width: wide, height: frames * height, channels: 3, pageHeight: height };
// The last frame stays for a moment before the clip begins again.
const delay = Array.from({ length: frames }, (_, frame) => (frame === frames - 1 ? 600 : 42));
await sharp(sheet, { raw, limitInputPixels: false }).webp({ quality: 78, effort: 5, loop: 0, delay }).toFile(output);
const { size } = statSync(output);
console.log(`${output}: ${wide}x${height}, ${frames} frames, ${size} bytes`);
if (size > limitBytes) throw new Error(`${output} has ${size} bytes, the limit is ${limitBytes}: show fewer clips`);
