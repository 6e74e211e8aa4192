// LoRA adapters, read in the namings in use.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CheckpointError, listNames } from '../errors.js';
import { toDiffusersName } from '../flat-names.js';
import { toFloat32 } from '../floats.js';
import { isRecord, readJson } from '../json-file.js';
import { openPartWeights } from '../part-weights.js';
import type { StoredWeight } from '../weight-table.js';

/** The two factors for one weight `[out, in]`. */
export interface LoraPair {
  readonly down: StoredWeight; // A [rank, in]
  readonly up: StoredWeight; // B [out, rank]
  /** alpha / rank, or alpha / sqrt(rank) for rank-stabilised adapters. */
  readonly scale: number;
}

/** An opened adapter. */
export interface LoraAdapter extends Disposable {
  readonly path: string;
  /** Factors by module name (a weight's name without `.weight`), in the transformer's naming. */
  readonly pairs: ReadonlyMap<string, LoraPair>;
  /** SHA-256, in hex, of all factors, their scales and the modules they are for: the same wherever and under whatever names it lies. */
  hash(): string;
}

interface Alphas {
  readonly alpha: number | undefined;
  readonly pattern: Readonly<Record<string, unknown>>;
  readonly isRankStabilised: boolean;
}

const prefixes = /^(?:base_model\.model\.|transformer\.|diffusion_model\.|model\.diffusion_model\.|net\.)+/;
const downKey = /^(.+)\.(?:lora_A(?:\.\w+)?|lora_down|lora\.down)\.weight$/;
const upKey = /^(.+)\.(?:lora_B(?:\.\w+)?|lora_up|lora\.up)\.weight$/;
const alphaKey = /^(.+)\.alpha$/;

/** Names that trainers give an adapter in a folder that holds more. */
const fileNames = ['adapter_model.safetensors', 'pytorch_lora_weights.safetensors'];

/** The transformer's module name for one of an adapter: prefixes go, flat names are mapped. */
function moduleName(name: string): string {
  return toDiffusersName(name.replace(prefixes, '')).replace(/\.to_out\.0$/, '.to_out');
}

/**
 * Opens an adapter: a .safetensors file, or a folder with `adapter_model.safetensors` and `adapter_config.json` (peft).
 * Keys may be peft's (`lora_A`, `lora_B`), or `lora_down`, `lora_up` with `alpha`.
 * @throws CheckpointError for keys that are no LoRA factors, and for a factor without its partner.
 */
export function openLora(path: string): LoraAdapter {
  const file = findFile(path);
  const weights = openPartWeights(file);
  try {
    const { table } = weights;
    const down = new Map<string, StoredWeight>();
    const up = new Map<string, StoredWeight>();
    const alphas = new Map<string, number>();
    const unknown: string[] = [];
    for (const key of table.names) {
      const [toDown, toUp, toAlpha] = [downKey.exec(key)?.[1], upKey.exec(key)?.[1], alphaKey.exec(key)?.[1]];
      if (toDown !== undefined) addFactor(down, path, toDown, table.load(key));
      else if (toUp !== undefined) addFactor(up, path, toUp, table.load(key));
      else if (toAlpha !== undefined) alphas.set(moduleName(toAlpha), toFloat32(table.load(key))[0] ?? Number.NaN);
      else unknown.push(key);
    }
    if (unknown.length > 0) {
      throw new CheckpointError(
        path,
        `keys that are no LoRA factors: ${listNames(unknown)}`,
        'only plain LoRA can be merged',
      );
    }
    const common = readAlphas(file, weights.files[0]?.metadata ?? {});
    const pairs = new Map<string, LoraPair>();
    for (const module of new Set([...down.keys(), ...up.keys(), ...alphas.keys()])) {
      const [a, b] = [down.get(module), up.get(module)];
      if (a === undefined || b === undefined) {
        throw new CheckpointError(
          path,
          `${module} has ${a ? 'no up (B)' : 'no down (A)'} factor`,
          'the adapter is incomplete',
        );
      }
      const scale = pairScale(module, a, alphas.get(module), common);
      // A factor without rows has no scale, and is refused where it is held against its weight.
      if (!Number.isFinite(scale) && a.shape[0] !== 0)
        throw new CheckpointError(path, `alpha of ${module} is no finite number`, 'save the adapter again');
      pairs.set(module, { down: a, up: b, scale });
    }
    let hash: string | undefined;
    return {
      path,
      pairs,
      hash() {
        hash ??= hashPairs(pairs);
        return hash;
      },
      [Symbol.dispose]: () => weights[Symbol.dispose](),
    };
  } catch (error) {
    weights[Symbol.dispose]();
    throw error;
  }
}

function addFactor(factors: Map<string, StoredWeight>, path: string, name: string, factor: StoredWeight): void {
  const module = moduleName(name);
  if (factors.has(module))
    throw new CheckpointError(path, `${module} has two factors of a kind`, 'give a file that holds one adapter');
  factors.set(module, factor);
}

function findFile(path: string): string {
  if (!existsSync(path)) throw new CheckpointError(path, 'no such LoRA file or folder', 'check the path');
  const remedy = 'give a .safetensors file, or a folder that holds one';
  if (statSync(path).isDirectory()) {
    const names = readdirSync(path).filter((name) => name.endsWith('.safetensors'));
    const name = fileNames.find((known) => names.includes(known)) ?? (names.length === 1 ? names[0] : undefined);
    if (name !== undefined) return join(path, name);
    const problem =
      names.length === 0 ? 'no .safetensors file in it' : `several .safetensors files (${listNames(names)})`;
    throw new CheckpointError(path, problem, remedy);
  }
  if (!path.endsWith('.safetensors')) throw new CheckpointError(path, 'no .safetensors file', remedy);
  return path;
}

function hashPairs(pairs: ReadonlyMap<string, LoraPair>): string {
  const hash = createHash('sha256');
  for (const [module, { down, up, scale }] of [...pairs].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(JSON.stringify([module, scale, down.dtype, down.shape, up.dtype, up.shape]));
    hash.update(down.bytes).update(up.bytes);
  }
  return hash.digest('hex');
}

// peft keeps the configuration in a file, diffusers in the metadata with the part's name before each key.
function readAlphas(path: string, metadata: Readonly<Record<string, string>>): Alphas {
  const file = join(dirname(path), 'adapter_config.json');
  let config: Readonly<Record<string, unknown>> = {};
  if (existsSync(file)) {
    const parsed = readJson(file);
    if (isRecord(parsed)) config = parsed;
  } else if (metadata.lora_adapter_metadata !== undefined) {
    const parsed = parseMetadata(path, metadata.lora_adapter_metadata);
    if (isRecord(parsed)) {
      config = Object.fromEntries(
        Object.entries(parsed).map(([key, value]) => [key.replace(/^transformer\./, ''), value]),
      );
    }
  }
  return {
    alpha: typeof config.lora_alpha === 'number' ? config.lora_alpha : undefined,
    pattern: isRecord(config.alpha_pattern) ? config.alpha_pattern : {},
    isRankStabilised: config.use_rslora === true,
  };
}

function parseMetadata(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const problem = 'lora_adapter_metadata in its metadata is no valid JSON';
    throw new CheckpointError(path, problem, 'save the adapter again', { cause });
  }
}

function pairScale(module: string, down: StoredWeight, ownAlpha: number | undefined, common: Alphas): number {
  const rank = down.shape[0] ?? 0;
  const matching = Object.entries(common.pattern).find(([key]) => {
    const name = moduleName(key);
    return module === name || module.endsWith(`.${name}`);
  });
  const patterned = typeof matching?.[1] === 'number' ? matching[1] : undefined;
  const alpha = ownAlpha ?? patterned ?? common.alpha ?? rank;
  return alpha / (common.isRankStabilised ? Math.sqrt(rank) : rank);
}
