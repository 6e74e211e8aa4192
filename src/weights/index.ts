// The weights room's door.
export {
  type Checkpoint,
  type CheckpointOptions,
  type CheckpointPart,
  type MergedLora,
  openCheckpoint,
} from './checkpoint.js';
export { CheckpointError, WeightError } from './errors.js';
export { toFlatName } from './flat-names.js';
export { decodeFloat32, type FloatDType, fromFloat32, toFloat32 } from './floats.js';
export { HubError, type HubFailure } from './hub/hub-error.js';
export {
  findCached,
  isRepositoryId,
  type Pulled,
  type PullOptions,
  type PullProgress,
  pullRepository,
} from './hub/pull.js';
export { mergeLora } from './lora/merge-lora.js';
export { mergeIntoCheckpoint } from './lora/merged-checkpoint.js';
export { type LoraAdapter, openLora } from './lora/open-lora.js';
export type { ModelIndex } from './model-index.js';
export { createWeightReader, type ReaderOptions, type WeightReader } from './reader.js';
export { type ResolvedCheckpoint, resolveCheckpoint } from './resolve-checkpoint.js';
export { type FileTensor, openSafetensors, type SafetensorsFile } from './safetensors/open-safetensors.js';
export { type WritableTensor, writeSafetensors } from './safetensors/write-safetensors.js';
export { isRandomWeight, type RandomWeight, randomBytes } from './synthetic/random-weight.js';
export { openSyntheticCheckpoint, type SyntheticOptions } from './synthetic/synthetic-checkpoint.js';
export type { StoredWeight, WeightInfo, WeightTable } from './weight-table.js';
