// One layout of a transformer's weights from the other. Tensors are streamed, and changed by an adapter alone; the result is whole
// or not there.

import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { dtypeBytes, elementCount } from '../../../backend/index.js';
import { RequestError } from '../../../protocol/index.js';
import {
  CheckpointError,
  mergeLora,
  toFlatName,
  type WeightTable,
  type WritableTensor,
  writeSafetensors,
} from '../../../weights/index.js';
import { openAdapter } from '../../checkpoint/open-model.js';
import { type EngineConfig, readConfig } from '../../config.js';
import { type LoraOptions, readLora } from '../../door/read-lora.js';
import { findCheckpoint } from './find-checkpoint.js';
import { type Layout, openTransformer, type TransformerFile } from './open-transformer.js';
import { neededTensors, readTransformerShape, type TransformerShape, timeEmbedderNames } from './transformer-shape.js';

export interface ConvertOptions {
  /** A .safetensors file for the flat layout, a folder that does not exist for the other. */
  readonly output: string;
  /** The other layout than the source's where absent. */
  readonly to?: Layout | undefined;
  /** To flat: all tensors, not only those that denoising reads. */
  readonly all?: boolean | undefined;
  /** To diffusers: a checkpoint that gives what a flat file lacks. */
  readonly base?: string | undefined;
  /** An adapter to merge into the weights that are written. */
  readonly lora?: LoraOptions | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((done: { readonly bytes: number; readonly totalBytes: number }) => void) | undefined;
  /** Settings to use instead of the environment's. */
  readonly environment?: EngineConfig | undefined;
}

/** What was written. */
export interface Converted {
  /** Absolute path of the file or folder. */
  readonly output: string;
  readonly layout: Layout;
  readonly tensors: number;
  readonly bytes: number;
  /** Tensors of the source that were left behind. */
  readonly dropped: readonly string[];
  /** Tensors taken from the base. */
  readonly fromBase: readonly string[];
  /** To diffusers: what generation reads and nothing here could give. */
  readonly missing: readonly string[];
  /** Whether a configuration was at hand to be written along. */
  readonly hasConfig: boolean;
}

/**
 * Converts a transformer: a checkpoint folder, the transformer's own folder, or a file.
 * @param source where absent, the checkpoint that the environment names, else the package's own
 * @throws RequestError for an output or an adapter that does not fit; IncompleteFileError where the source lacks what denoising needs;
 *   CheckpointError; the signal's reason when stopped
 */
export async function convertCheckpoint(source: string | undefined, options: ConvertOptions): Promise<Converted> {
  const environment = options.environment ?? readConfig();
  const lora = options.lora && readLora(options.lora);
  using opened = openTransformer(await findCheckpoint(source, environment, options.signal));
  if (lora === undefined) return await convert(opened, options);
  using merged = openAdapter(lora.path, (adapter) => ({
    table: mergeLora(opened.table, adapter, lora.scale),
    [Symbol.dispose]: () => adapter[Symbol.dispose](),
  }));
  return await convert({ ...opened, table: merged.table }, options);
}

async function convert(file: TransformerFile, options: ConvertOptions): Promise<Converted> {
  const shape = readTransformerShape(file);
  const to = options.to ?? (file.layout === 'flat' ? 'diffusers' : 'flat');
  const output = resolve(options.output);
  checkOutput(to, output, options);
  const write = to === 'flat' ? writeFlat : writeDiffusers;
  return await write(file, shape, output, options);
}

function checkOutput(to: Layout, output: string, { all, base }: ConvertOptions): void {
  const refuse = (param: string, message: string): never => {
    throw new RequestError('invalid_value', param, message);
  };
  if (!existsSync(dirname(output)))
    refuse('output', `output ${output} cannot be written: folder ${dirname(output)} does not exist; create it first`);
  if (to === 'flat') {
    if (!output.endsWith('.safetensors'))
      refuse('output', `output ${output} must end in .safetensors: flat is one file`);
    if (base !== undefined) refuse('base', 'base gives what a flat file lacks; it has no use on the way to one');
    return;
  }
  if (output.endsWith('.safetensors'))
    refuse('output', `output ${output} must be a folder: the diffusers layout is one, with its config.json`);
  const isTaken = existsSync(output) && (!statSync(output).isDirectory() || readdirSync(output).length > 0);
  if (isTaken) refuse('output', `output ${output} exists; give another name, or remove it first`);
  if (all === true) refuse('all', 'all is for the flat layout; the other always takes every tensor');
}

async function writeFlat(
  file: TransformerFile,
  shape: TransformerShape,
  output: string,
  options: ConvertOptions,
): Promise<Converted> {
  const needed = new Set(neededTensors(shape, shape).map(([name]) => name));
  // Scales belong to the weight they are named after.
  const isKept = (name: string) =>
    options.all === true || needed.has(name.replace(/(weight)_scale$|input_scale$/, 'weight'));
  const kept = file.table.names.filter(isKept);
  const dropped = file.table.names.filter((name) => !isKept(name));
  const tensors = streamed(file.table, kept, toFlatName);
  const bytes = await writeTensors(output, tensors, file.config, options);
  const hasConfig = file.config !== null;
  return { output, layout: 'flat', tensors: kept.length, bytes, dropped, fromBase: [], missing: [], hasConfig };
}

async function writeDiffusers(
  file: TransformerFile,
  shape: TransformerShape,
  output: string,
  options: ConvertOptions,
): Promise<Converted> {
  using base = options.base === undefined ? null : openBase(options.base, shape);
  const own = new Set(file.table.names);
  const fromBase = base === null ? [] : base.table.names.filter((name) => !own.has(name));
  const tensors = [
    ...streamed(file.table, file.table.names, (name) => name),
    ...(base === null ? [] : streamed(base.table, fromBase, (name) => name)),
  ];
  const config = base?.config ?? file.config;
  const names = new Set([...own, ...fromBase]);
  const missing = generationNames(config?.json).filter((name) => !names.has(name));
  const folder = join(dirname(output), `.${basename(output)}.${randomUUID()}.tmp`);
  await mkdir(folder);
  try {
    if (config !== null) await writeFile(join(folder, 'config.json'), config.text);
    const bytes = await writeTensors(join(folder, 'diffusion_pytorch_model.safetensors'), tensors, null, options);
    await rename(folder, output);
    const hasConfig = config !== null;
    return { output, layout: 'diffusers', tensors: tensors.length, bytes, dropped: [], fromBase, missing, hasConfig };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

function openBase(path: string, shape: TransformerShape): TransformerFile {
  const base = openTransformer(path);
  try {
    const other = readTransformerShape(base);
    for (const key of ['layers', 'hidden', 'inner', 'heads', 'kvHeads', 'headDim', 'patchDim', 'mlp'] as const) {
      if (other[key] === shape[key]) continue;
      const problem = `its transformer has ${key} ${other[key]}, the source ${shape[key]}`;
      throw new CheckpointError(base.path, problem, 'give the checkpoint that the flat file was made from');
    }
    return base;
  } catch (error) {
    base[Symbol.dispose]();
    throw error;
  }
}

/** What generation reads beside the layers: embeddings always, heads where the configuration has them. */
function generationNames(config: unknown): string[] {
  const has = (key: string) => typeof config === 'object' && config !== null && Reflect.get(config, key) === true;
  const projection = (name: string) => [`${name}.weight`, `${name}.bias`];
  return [
    'embed_tokens.weight',
    ...timeEmbedderNames,
    ...(has('sound_gen') ? ['audio_modality_embed', ...['audio_proj_in', 'audio_proj_out'].flatMap(projection)] : []),
    ...(has('action_gen')
      ? [
          'action_modality_embed',
          ...['action_proj_in', 'action_proj_out'].flatMap((name) => [`${name}.fc.weight`, `${name}.bias.weight`]),
        ]
      : []),
  ];
}

function streamed(table: WeightTable, names: readonly string[], rename: (name: string) => string): WritableTensor[] {
  return names.map((name) => {
    const info = table.info(name);
    if (info?.dtype === undefined)
      throw new CheckpointError(
        table.origin,
        `${name} is ${info?.fileDtype ?? 'missing'}, which this engine does not know`,
        'convert it to a dtype of networks first, or leave it out',
      );
    return { name: rename(name), dtype: info.dtype, shape: info.shape, bytes: () => table.load(name).bytes };
  });
}

async function writeTensors(
  path: string,
  tensors: readonly WritableTensor[],
  config: TransformerFile['config'],
  { signal, onProgress }: ConvertOptions,
): Promise<number> {
  const sizeOf = ({ dtype, shape }: WritableTensor) => elementCount(shape) * dtypeBytes(dtype);
  const totalBytes = tensors.reduce((sum, tensor) => sum + sizeOf(tensor), 0);
  let done = 0;
  const watched = tensors.map((tensor) => ({
    ...tensor,
    bytes: () => {
      signal?.throwIfAborted();
      onProgress?.({ bytes: done, totalBytes });
      done += sizeOf(tensor);
      return typeof tensor.bytes === 'function' ? tensor.bytes() : tensor.bytes;
    },
  }));
  // Readers of the original format pass over metadata; ours takes the configuration from there.
  await writeSafetensors(path, watched, {
    format: 'pt',
    ...(config === null ? {} : { config: config.text }),
  });
  onProgress?.({ bytes: totalBytes, totalBytes });
  return totalBytes;
}
