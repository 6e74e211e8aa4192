// model_index.json and modular_model_index.json: the parts of a checkpoint and its flags.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CheckpointError } from './errors.js';
import { isRecord, readJson } from './json-file.js';

/** What a checkpoint says of itself. Flags that it does not carry are undefined. */
export interface ModelIndex {
  /** Pipeline class, as `Cosmos3OmniPipeline`. */
  readonly className: string | undefined;
  /** Parts it names and their classes; those it sets to null are left out. */
  readonly parts: ReadonlyMap<string, string>;
  readonly defaultUseSystemPrompt: boolean | undefined;
  readonly useNativeFlowSchedule: boolean | undefined;
  readonly enableSafetyChecker: boolean | undefined;
  readonly isDistilled: boolean;
  /** Falling, from at most 1 to at least 0. Present for distilled checkpoints only. */
  readonly distilledSigmas: readonly number[] | undefined;
  /** `orrery_defaults`: defaults per task, unparsed; undefined when the checkpoint has none. */
  readonly orreryDefaults: unknown;
}

/** The index of a checkpoint that is a single file. */
export const emptyModelIndex: ModelIndex = {
  className: undefined,
  parts: new Map(),
  defaultUseSystemPrompt: undefined,
  useNativeFlowSchedule: undefined,
  enableSafetyChecker: undefined,
  isDistilled: false,
  distilledSigmas: undefined,
  orreryDefaults: undefined,
};

function readIndexFile(file: string): Readonly<Record<string, unknown>> {
  const index = readJson(file);
  if (!isRecord(index)) throw new CheckpointError(file, 'no JSON object', 'download it again');
  return index;
}

/**
 * Reads a checkpoint folder's index files.
 * @throws CheckpointError when model_index.json is missing or a flag has the wrong type.
 */
export function readModelIndex(folder: string): ModelIndex {
  const file = join(folder, 'model_index.json');
  if (!existsSync(file)) {
    throw new CheckpointError(
      folder,
      'no checkpoint: it has no model_index.json',
      'give a folder in the diffusers layout, a .safetensors file or a repository id',
    );
  }
  const index = readIndexFile(file);
  const modularFile = join(folder, 'modular_model_index.json');
  const hasModular = existsSync(modularFile);
  const distilledFile = hasModular ? modularFile : file;
  // The modular index repeats the flags of the plain one and wins where both have one.
  const merged = hasModular ? { ...index, ...readIndexFile(modularFile) } : index;
  const flag = (name: string): boolean | undefined => {
    const value = merged[name];
    if (value === undefined || value === null || typeof value === 'boolean') return value ?? undefined;
    throw new CheckpointError(file, `${name} is ${JSON.stringify(value)}`, 'it must be true or false');
  };
  const parts = new Map<string, string>();
  for (const [name, value] of Object.entries(index)) {
    if (Array.isArray(value) && typeof value[1] === 'string') parts.set(name, value[1]);
  }
  const className = index._class_name;
  const isDistilled = flag('is_distilled') ?? false;
  return {
    className: typeof className === 'string' ? className : undefined,
    parts,
    defaultUseSystemPrompt: flag('default_use_system_prompt'),
    useNativeFlowSchedule: flag('use_native_flow_schedule'),
    enableSafetyChecker: flag('enable_safety_checker'),
    isDistilled,
    distilledSigmas: isDistilled ? readSigmas(distilledFile, merged.distilled_sigmas) : undefined,
    orreryDefaults: index.orrery_defaults,
  };
}

function readSigmas(file: string, value: unknown): readonly number[] | undefined {
  if (value === undefined || value === null) return undefined;
  const isFalling =
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((sigma, i) => typeof sigma === 'number' && sigma >= 0 && sigma <= (i === 0 ? 1 : value[i - 1]));
  if (isFalling) return value;
  throw new CheckpointError(
    file,
    `distilled_sigmas is ${JSON.stringify(value)}`,
    'it must be a falling list of numbers from 1 down to 0',
  );
}
