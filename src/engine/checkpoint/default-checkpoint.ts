// Which checkpoint is used when none is named: the one of the package.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CheckpointError } from '../../weights/index.js';
import { packageRoot } from '../package-info.js';

/**
 * Folder of the package's checkpoint.
 * @throws CheckpointError when the package has none
 */
export function findDefaultCheckpoint(root: string = packageRoot()): string {
  const path = join(root, 'checkpoints', 'micro');
  if (existsSync(join(path, 'model_index.json'))) return path;
  throw new CheckpointError(
    path,
    'this installation has no checkpoint of its own',
    'give one with --model, a folder or a repository id',
  );
}
