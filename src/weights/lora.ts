// LoRA adapters: read in the namings in use, merged into the stored weights as they are loaded.
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CheckpointError, listNames, WeightError } from './errors.js';
import { toDiffusersName } from './flat-names.js';
import { type FloatDType, fromFloat32, toFloat32 } from './floats.js';
import { isRecord, readJson } from './json-file.js';
import { openPartWeights } from './part-weights.js';
import type { StoredWeight, WeightTable } from './weight-table.js';

/** The two factors for one weight `[out, in]`. */
interface LoraPair {
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
  if (!existsSync(path)) throw new CheckpointError(path, 'no such LoRA file or folder', 'check the path');
  const folder = statSync(path).isDirectory() ? path : dirname(path);
  const weights = openPartWeights(path);
  try {
    const { table } = weights;
    const down = new Map<string, StoredWeight>();
    const up = new Map<string, StoredWeight>();
    const alphas = new Map<string, number>();
    const unknown: string[] = [];
    for (const key of table.names) {
      const [toDown, toUp, toAlpha] = [downKey.exec(key)?.[1], upKey.exec(key)?.[1], alphaKey.exec(key)?.[1]];
      if (toDown !== undefined) down.set(moduleName(toDown), table.load(key));
      else if (toUp !== undefined) up.set(moduleName(toUp), table.load(key));
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
    const common = readAlphas(folder, weights.files[0]?.metadata ?? {});
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
      pairs.set(module, { down: a, up: b, scale: pairScale(module, a, alphas.get(module), common) });
    }
    return { path, pairs, [Symbol.dispose]: () => weights[Symbol.dispose]() };
  } catch (error) {
    weights[Symbol.dispose]();
    throw error;
  }
}

// peft keeps the configuration in a file, diffusers in the metadata with the part's name before each key.
function readAlphas(folder: string, metadata: Readonly<Record<string, string>>): Alphas {
  const file = join(folder, 'adapter_config.json');
  let config: Readonly<Record<string, unknown>> = {};
  if (existsSync(file)) {
    const parsed = readJson(file);
    if (isRecord(parsed)) config = parsed;
  } else if (metadata.lora_adapter_metadata !== undefined) {
    const parsed: unknown = JSON.parse(metadata.lora_adapter_metadata);
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

/**
 * A table whose touched weights are `W + scale * (alpha / rank) * B A`, computed when loaded; all others pass through.
 * Merged weights keep float32 and bfloat16; float16 becomes float32, FP8 is dequantised to bfloat16.
 * @param scale the user's strength, 1 for the adapter as trained.
 * @throws CheckpointError naming the modules that the table does not have; WeightError when a factor does not fit its weight.
 */
export function mergeLora(table: WeightTable, adapter: LoraAdapter, scale = 1): WeightTable {
  const byUnderscore = new Map(table.names.map((name) => [name.replace(/\.weight$/, '').replaceAll('.', '_'), name]));
  const pairs = new Map<string, LoraPair>();
  const unknown: string[] = [];
  for (const [module, pair] of adapter.pairs) {
    const plain = `${module}.weight`;
    // One family of trainers writes underscores for dots.
    const name = table.info(plain) ? plain : byUnderscore.get(module.replace(/^lora_(?:unet|transformer)_/, ''));
    if (name === undefined) unknown.push(module);
    else {
      checkFit(table, name, pair);
      pairs.set(name, pair);
    }
  }
  if (unknown.length > 0) {
    throw new CheckpointError(
      adapter.path,
      `modules that ${table.origin} does not have: ${listNames(unknown)}`,
      'use an adapter made for this model',
    );
  }
  return {
    origin: table.origin,
    names: table.names,
    info(name) {
      const info = table.info(name);
      if (info === undefined || !pairs.has(name)) return info;
      const dtype = mergedDtype(info.dtype);
      return { ...info, dtype };
    },
    load(name) {
      const pair = pairs.get(name);
      return pair === undefined ? table.load(name) : mergeWeight(table.load(name), pair, scale * pair.scale);
    },
  };
}

function mergedDtype(dtype: StoredWeight['dtype'] | undefined): FloatDType {
  return dtype === 'f32' || dtype === 'f16' ? 'f32' : 'bf16';
}

function checkFit(table: WeightTable, name: string, { down, up }: LoraPair): void {
  const [rows, columns] = table.info(name)?.shape ?? [];
  const rank = down.shape[0];
  const fits = [
    table.info(name)?.shape.length === 2,
    down.shape.length === 2 && down.shape[1] === columns,
    up.shape.length === 2 && up.shape[0] === rows && up.shape[1] === rank,
  ];
  if (fits.every(Boolean)) return;
  const shapes = `A [${down.shape.join(', ')}] and B [${up.shape.join(', ')}]`;
  throw new WeightError(name, `LoRA factors A [rank, ${columns}] and B [${rows}, rank]`, shapes);
}

function mergeWeight(stored: StoredWeight, pair: LoraPair, scale: number): StoredWeight {
  const values = toFloat32(stored);
  const [rows = 0, columns = 0] = stored.shape;
  const rank = pair.down.shape[0] ?? 0;
  const up = toFloat32(pair.up);
  // Four ranks a pass, the last pass filled up with zeros: the sums are read and written a quarter as often.
  const padded = Math.ceil(rank / 4) * 4;
  const down = new Float32Array(padded * columns);
  down.set(toFloat32(pair.down));
  const sums = new Float64Array(columns);
  for (let o = 0; o < rows; o++) {
    sums.fill(0);
    for (let r = 0; r < padded; r += 4) {
      const at = o * rank + r;
      const left = rank - r;
      const b0 = up[at] as number;
      const b1 = left > 1 ? (up[at + 1] as number) : 0;
      const b2 = left > 2 ? (up[at + 2] as number) : 0;
      const b3 = left > 3 ? (up[at + 3] as number) : 0;
      addRows(sums, down.subarray(r * columns, (r + 4) * columns), b0, b1, b2, b3);
    }
    const start = o * columns;
    for (let i = 0; i < columns; i++) values[start + i] = (values[start + i] as number) + scale * (sums[i] as number);
  }
  const dtype = mergedDtype(stored.dtype);
  return { name: stored.name, dtype, shape: stored.shape, bytes: fromFloat32(values, dtype) };
}

/** `sums += b0 * rows[0] + … + b3 * rows[3]`, rows `[4, columns]`. */
function addRows(sums: Float64Array, rows: Float32Array, b0: number, b1: number, b2: number, b3: number): void {
  const n = sums.length;
  for (let i = 0; i < n; i++) {
    sums[i] =
      (sums[i] as number) +
      b0 * (rows[i] as number) +
      b1 * (rows[n + i] as number) +
      b2 * (rows[2 * n + i] as number) +
      b3 * (rows[3 * n + i] as number);
  }
}
