// Opens a transformer's weights alone: a flat file, a file or folder in the diffusers layout, or the part of a whole checkpoint.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CheckpointError, toFlatName, type WeightTable } from '../../../weights/index.js';
import { openPartWeights } from '../../../weights/part-weights.js';
import { isFlatName } from './flat-names.js';

/** How a file names its tensors. */
export type Layout = 'flat' | 'diffusers';

/** The opened weights. Nothing but headers has been read. */
export interface TransformerFile extends Disposable {
  /** Absolute path of the file or folder. */
  readonly path: string;
  readonly layout: Layout;
  /** Tensors under their diffusers names. */
  readonly table: WeightTable;
  /** Its configuration as it is written, and what that says, unchecked; null where it has none. */
  readonly config: { readonly text: string; readonly json: unknown } | null;
  /** A diffusers name as this file spells it. */
  spell(name: string): string;
}

/**
 * Opens the weights.
 * @throws CheckpointError when there are none, or a file is damaged
 */
export function openTransformer(place: string): TransformerFile {
  const path = resolve(place);
  if (!existsSync(path))
    throw new CheckpointError(path, 'no such file or folder', 'give a .safetensors file or a checkpoint folder');
  const part = existsSync(join(path, 'model_index.json')) ? join(path, 'transformer') : path;
  if (!existsSync(part))
    throw new CheckpointError(path, 'this checkpoint has no transformer', 'download it again (orrery pull)');
  const weights = openPartWeights(part);
  const layout: Layout = weights.files.some(({ tensors }) => [...tensors.keys()].some(isFlatName))
    ? 'flat'
    : 'diffusers';
  try {
    return {
      path,
      layout,
      table: weights.table,
      config: readConfig(part, layout, weights.files[0]?.metadata.config),
      spell: layout === 'flat' ? toFlatName : (name) => name,
      [Symbol.dispose]: () => weights[Symbol.dispose](),
    };
  } catch (error) {
    weights[Symbol.dispose]();
    throw error;
  }
}

/** From the file's metadata, else from the config.json of its folder. A flat file lies anywhere: what lies beside it is not its own. */
function readConfig(part: string, layout: Layout, metadata: string | undefined): TransformerFile['config'] {
  const isFile = statSync(part).isFile();
  const file = join(isFile ? dirname(part) : part, 'config.json');
  const isOwn = layout === 'diffusers' || !isFile;
  const text = metadata ?? (isOwn && existsSync(file) ? readFileSync(file, 'utf8') : undefined);
  if (text === undefined) return null;
  try {
    return { text, json: JSON.parse(text) as unknown };
  } catch (cause) {
    const where = metadata === undefined ? file : part;
    throw new CheckpointError(where, 'its configuration is no valid JSON', 'correct it, or convert the file again', {
      cause,
    });
  }
}
