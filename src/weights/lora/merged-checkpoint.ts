// A checkpoint whose transformer is read with an adapter merged into it; all else is as it was.
import type { Checkpoint, CheckpointPart, MergedLora } from '../checkpoint.js';
import { createWeightReader } from '../reader.js';
import { mergeLora } from './merge-lora.js';
import type { LoraAdapter } from './open-lora.js';

/**
 * The same checkpoint with a merged transformer. Names and shapes are checked now, numbers are computed as weights are read.
 * Disposing of it closes both.
 * @param scale the user's strength, 1 for the adapter as trained
 * @throws CheckpointError, WeightError as `mergeLora` does; neither is closed then
 */
export function mergeIntoCheckpoint(checkpoint: Checkpoint, adapter: LoraAdapter, scale: number): Checkpoint {
  const transformer = mergePart(checkpoint.part('transformer'), adapter, scale);
  return {
    path: checkpoint.path,
    index: checkpoint.index,
    partNames: checkpoint.partNames,
    get lora(): MergedLora {
      return { sha256: adapter.hash(), scale };
    },
    has: (name) => checkpoint.has(name),
    part: (name) => (name === 'transformer' ? transformer : checkpoint.part(name)),
    [Symbol.dispose]() {
      adapter[Symbol.dispose]();
      checkpoint[Symbol.dispose]();
    },
  };
}

function mergePart(part: CheckpointPart, adapter: LoraAdapter, scale: number): CheckpointPart {
  const table = mergeLora(part.table(), adapter, scale);
  return {
    name: part.name,
    path: part.path,
    config: part.config,
    table: () => table,
    weights: (options) => createWeightReader(table, options),
    weightFiles: () => part.weightFiles(),
    file: (name) => part.file(name),
    [Symbol.dispose]: () => part[Symbol.dispose](),
  };
}
