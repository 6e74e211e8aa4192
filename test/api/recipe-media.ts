// Inputs of the recipe's requests, made by ffmpeg: pictures, clips, a depth map, actions.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from './run-program.js';

/** Writes the files into a folder. */
export async function makeRecipeMedia(folder: string): Promise<void> {
  const ffmpeg = (...args: string[]) => runProgram('ffmpeg', ['-v', 'error', '-y', ...args], { cwd: folder });
  const source = (size: string, rate: number, filter = '') => [
    '-f',
    'lavfi',
    '-i',
    `testsrc2=size=${size}:rate=${rate}${filter}`,
  ];
  await ffmpeg(...source('96x64', 1), '-frames:v', '1', 'reference.jpg');
  await ffmpeg(...source('64x48', 1), '-frames:v', '1', 'first_frame.jpg');
  await ffmpeg(...source('96x64', 12), '-frames:v', '20', '-pix_fmt', 'yuv420p', 'reference.mp4');
  await ffmpeg(...source('64x48', 5), '-frames:v', '17', '-pix_fmt', 'yuv420p', 'motion_clip.mp4');
  await ffmpeg(...source('96x64', 10, ',format=gray'), '-frames:v', '9', '-pix_fmt', 'yuv420p', 'depth_control.mp4');
  const actions = Array.from({ length: 8 }, (_, row) => Array.from({ length: 9 }, (_, i) => Math.sin(row + i) / 4));
  await writeFile(join(folder, 'action.json'), JSON.stringify(actions));
}
