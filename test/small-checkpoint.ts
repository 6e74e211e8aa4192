// A checkpoint that answers in a second: the golden tiny-nano, whose weights are random, with small default sizes.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const golden = fileURLToPath(new URL('./golden/data/', import.meta.url));

/** Folder of the checkpoint; `ORRERY_MODEL` names it in tests that run the command line or the server. */
export const smallCheckpoint = join(golden, 'tiny-small');

const clip = { size: '192x128', frames: 17, fps: 8, steps: 8 };
const action = { ...clip, size: '320x256' };

/** Sizes at which it answers in about a second. */
const defaults = {
  'text-to-image': { size: '128x128', steps: 8 },
  'text-to-video': clip,
  'image-to-video': clip,
  'video-to-video': clip,
  transfer: { ...clip, size: '320x192', frames: 9, steps: 4 },
  policy: action,
  'forward-dynamics': action,
  'inverse-dynamics': action,
};

/** Writes the folder, unless it is there: a model_index.json of its own, the parts as links to tiny-nano's. */
export function writeSmallCheckpoint(): void {
  const nano = join(golden, 'tiny-nano');
  mkdirSync(smallCheckpoint, { recursive: true });
  for (const part of ['transformer', 'vae', 'sound_tokenizer', 'text_tokenizer', 'scheduler'])
    if (!existsSync(join(smallCheckpoint, part))) symlinkSync(join(nano, part), join(smallCheckpoint, part), 'dir');
  const index: unknown = JSON.parse(readFileSync(join(nano, 'model_index.json'), 'utf8'));
  const text = JSON.stringify({ ...(index as object), orrery_defaults: defaults }, null, 2);
  writeFileSync(join(smallCheckpoint, 'model_index.json'), text);
}
