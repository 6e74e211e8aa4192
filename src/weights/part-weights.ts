// The weight files of one part: a single file, or shards named by an index.
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CheckpointError, listNames } from './errors.js';
import { toDiffusersName } from './flat-names.js';
import { isRecord, readJson } from './json-file.js';
import { type FileTensor, openSafetensors, type SafetensorsFile } from './safetensors/open-safetensors.js';
import { tabulate, type WeightTable } from './weight-table.js';

/** The opened weights of one part. */
export interface PartWeights extends Disposable {
  readonly table: WeightTable;
  readonly files: readonly SafetensorsFile[];
}

const stems = ['diffusion_pytorch_model', 'model'];
const indexSuffix = '.safetensors.index.json';
const downloadAgain = 'download the part again (orrery pull)';

/**
 * Opens a weight file, or the weights of a part's folder: `diffusion_pytorch_model.safetensors`, `model.safetensors` or the only
 * .safetensors file there, or the shards of an index. Names of the flat format come out as diffusers names.
 * @throws CheckpointError for a missing, damaged or ambiguous file, and for an index that contradicts its shards.
 */
export function openPartWeights(path: string, options: { readonly map?: boolean } = {}): PartWeights {
  const files: SafetensorsFile[] = [];
  const open = (file: string): SafetensorsFile => {
    const opened = openSafetensors(file, options);
    files.push(opened);
    return opened;
  };
  const close = () => {
    for (const file of files) file[Symbol.dispose]();
  };
  try {
    const index = path.endsWith('.safetensors') ? undefined : findIndex(path);
    const tensors = index === undefined ? open(findSingle(path)).tensors : openShards(path, index, open);
    return { table: tabulate(path, renameAll(path, tensors)), files, [Symbol.dispose]: close };
  } catch (error) {
    close();
    throw error;
  }
}

/** Whether a folder holds weights at all. */
export function hasWeights(folder: string): boolean {
  return readdirSync(folder).some((name) => name.endsWith('.safetensors') || name.endsWith(indexSuffix));
}

/** The shard names of a folder's index, or undefined when it has none. */
export function listShards(folder: string): readonly string[] | undefined {
  const index = findIndex(folder);
  return index === undefined ? undefined : [...new Set(readWeightMap(join(folder, index)).values())];
}

function pick(folder: string, suffix: string): string | undefined {
  const found = readdirSync(folder).filter((name) => name.endsWith(suffix));
  for (const stem of stems) if (found.includes(stem + suffix)) return stem + suffix;
  if (found.length > 1) {
    throw new CheckpointError(
      folder,
      `several weight files (${listNames(found)})`,
      `keep one, or name it ${stems[0]}${suffix}`,
    );
  }
  return found[0];
}

function findIndex(folder: string): string | undefined {
  return pick(folder, indexSuffix);
}

function findSingle(path: string): string {
  if (path.endsWith('.safetensors')) return path;
  const name = pick(path, '.safetensors');
  if (name === undefined) throw new CheckpointError(path, 'no .safetensors file in it', downloadAgain);
  return join(path, name);
}

function readWeightMap(file: string): ReadonlyMap<string, string> {
  const index = readJson(file);
  const map = isRecord(index) ? index.weight_map : undefined;
  if (!isRecord(map)) throw new CheckpointError(file, 'it has no weight_map', downloadAgain);
  const shards = new Map<string, string>();
  for (const [name, shard] of Object.entries(map)) {
    if (typeof shard !== 'string' || basename(shard) !== shard || !shard.endsWith('.safetensors')) {
      throw new CheckpointError(
        file,
        `weight_map gives ${name} the file ${JSON.stringify(shard)}`,
        'it must name a .safetensors file beside the index',
      );
    }
    shards.set(name, shard);
  }
  return shards;
}

function openShards(
  folder: string,
  index: string,
  open: (file: string) => SafetensorsFile,
): ReadonlyMap<string, FileTensor> {
  const indexFile = join(folder, index);
  const weightMap = readWeightMap(indexFile);
  const shards = [...new Set(weightMap.values())].sort();
  const absent = shards.filter((shard) => !existsSync(join(folder, shard)));
  if (absent.length > 0) {
    throw new CheckpointError(
      folder,
      `${absent.length} of ${shards.length} shards are missing: ${listNames(absent)}`,
      downloadAgain,
    );
  }
  const opened = new Map(shards.map((shard) => [shard, open(join(folder, shard))]));
  const tensors = new Map<string, FileTensor>();
  for (const [name, shard] of weightMap) {
    const tensor = opened.get(shard)?.tensors.get(name);
    if (tensor === undefined)
      throw new CheckpointError(indexFile, `it puts ${name} into ${shard}, which does not have it`, downloadAgain);
    tensors.set(name, tensor);
  }
  for (const [shard, file] of opened) {
    const stray = [...file.tensors.keys()].filter((name) => weightMap.get(name) !== shard);
    if (stray.length > 0) {
      throw new CheckpointError(
        indexFile,
        `${shard} has tensors that it does not put there: ${listNames(stray)}`,
        downloadAgain,
      );
    }
  }
  return tensors;
}

function renameAll(path: string, tensors: ReadonlyMap<string, FileTensor>): ReadonlyMap<string, FileTensor> {
  const renamed = new Map<string, FileTensor>();
  for (const [name, tensor] of tensors) {
    const diffusersName = toDiffusersName(name);
    const other = renamed.get(diffusersName);
    if (other !== undefined) {
      throw new CheckpointError(path, `${other.name} and ${name} are two names of one weight`, 'keep one of them');
    }
    renamed.set(diffusersName, tensor);
  }
  return renamed;
}
