// Where a result goes when no output is given: named after the prompt, never over an existing file.
import { existsSync } from 'node:fs';

/** `a-red-ball-rolls.mp4`, or `a-red-ball-rolls-2.mp4` where that exists. */
export function defaultOutputName(
  prompt: string,
  extension: string,
  exists: (path: string) => boolean = existsSync,
): string {
  const words = prompt
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .trim()
    .split(' ')
    .slice(0, 6)
    .join('-')
    .slice(0, 60);
  const stem = words === '' ? 'orrery' : words;
  for (let i = 1; ; i++) {
    const name = `${stem}${i === 1 ? '' : `-${i}`}.${extension}`;
    if (!exists(name)) return name;
  }
}
