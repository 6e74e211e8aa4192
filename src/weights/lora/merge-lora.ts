// An adapter merged into stored weights, as they are loaded.
import { dtypeBytes, elementCount } from '../../backend/index.js';
import { CheckpointError, listNames, WeightError } from '../errors.js';
import { type FloatDType, fromFloat32, toFloat32 } from '../floats.js';
import { type StoredWeight, scaleName, type WeightTable } from '../weight-table.js';
import type { LoraAdapter, LoraPair } from './open-lora.js';

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
  // What was dequantised has no scale any more.
  const scales = new Set([...pairs.keys()].filter((name) => isFp8(table, name)).map(scaleName));
  return {
    origin: table.origin,
    names: table.names.filter((name) => !scales.has(name)),
    info(name) {
      const info = scales.has(name) ? undefined : table.info(name);
      if (info === undefined || !pairs.has(name)) return info;
      const dtype = mergedDtype(info.dtype);
      const byteLength = elementCount(info.shape) * dtypeBytes(dtype);
      return { ...info, dtype, fileDtype: dtype.toUpperCase(), byteLength };
    },
    load(name) {
      const pair = pairs.get(name);
      return pair === undefined ? table.load(name) : mergeWeight(table.load(name), pair, scale * pair.scale);
    },
  };
}

function isFp8(table: WeightTable, name: string): boolean {
  return table.info(name)?.dtype?.startsWith('f8') === true;
}

function mergedDtype(dtype: StoredWeight['dtype'] | undefined): FloatDType {
  return dtype === 'f32' || dtype === 'f16' ? 'f32' : 'bf16';
}

function checkFit(table: WeightTable, name: string, { down, up }: LoraPair): void {
  const [rows, columns] = table.info(name)?.shape ?? [];
  const rank = down.shape[0];
  const fits = [
    rank !== undefined && rank > 0,
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
