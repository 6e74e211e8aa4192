// Which checkpoint is used when none is named: the trained one of the package, else its tiny random one.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CheckpointError } from '../../weights/index.js';
import { packageRoot } from '../package-info.js';
import type { CheckpointDefaults } from './checkpoint-defaults.js';

/** A checkpoint that comes with the package. */
export interface DefaultCheckpoint {
  readonly path: string;
  /** Its weights are random: results are noise of the right form. */
  readonly isRandom: boolean;
}

const places = [
  { folder: ['checkpoints', 'micro'], isRandom: false },
  { folder: ['checkpoints', 'tiny'], isRandom: true },
  { folder: ['test', 'golden', 'data', 'tiny-nano'], isRandom: true },
] as const;

/**
 * The package's checkpoint.
 * @throws CheckpointError when the package has none
 */
export function findDefaultCheckpoint(root: string = packageRoot()): DefaultCheckpoint {
  for (const { folder, isRandom } of places) {
    const path = join(root, ...folder);
    if (existsSync(join(path, 'model_index.json'))) return { path, isRandom };
  }
  throw new CheckpointError(
    join(root, 'checkpoints'),
    'this installation has no checkpoint of its own',
    'give one with --model, a folder or a repository id',
  );
}

const clip = { width: 192, height: 128, frames: 17, fps: 8, steps: 8 };

/** Sizes at which the random checkpoint answers in seconds. A checkpoint's own `orrery_defaults` come before these. */
export const randomDefaults: CheckpointDefaults = {
  'text-to-image': { width: 128, height: 128, steps: 8 },
  'text-to-video': clip,
  'image-to-video': clip,
  'video-to-video': clip,
  transfer: { ...clip, width: 320, height: 192, frames: 9, steps: 4 },
  policy: { ...clip, width: 320, height: 256 },
  'forward-dynamics': { ...clip, width: 320, height: 256 },
  'inverse-dynamics': { ...clip, width: 320, height: 256 },
};
