// What the ops of the CPU device share: memory, threads, scopes, packed weights.
import type { TensorScopes } from '../backend/index.js';
import type { DeviceMemory } from './storage/device-memory.js';
import type { WeightStore } from './storage/weight-store.js';
import type { Pool } from './threads/pool.js';

export interface CpuDevice {
  readonly memory: DeviceMemory;
  readonly pool: Pool;
  readonly scopes: TensorScopes;
  readonly weights: WeightStore;
}

/** Elements that a tile of a pointwise op handles. */
export const elementsPerTile = 16384;

/** Rows of `c` elements per tile, and how many tiles `rows` rows make. */
export function rowTiles(rows: number, c: number): { readonly block: number; readonly tiles: number } {
  const block = Math.max(1, Math.floor(elementsPerTile / Math.max(c, 1)));
  return { block, tiles: Math.ceil(rows / block) };
}
