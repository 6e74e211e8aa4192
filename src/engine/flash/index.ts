// The denoise policy's door: a transformer alone, conditioned by a reference dump; such dumps; and its two weight layouts.
export type { LatentComparison } from './compare-latents.js';
export {
  Cosmos3Video,
  type InferOptions,
  type InferResult,
  type LatencyStats,
  type Quant,
  type SetPromptOptions,
  type VideoLatent,
} from './cosmos3-video.js';
export { type Dumped, type DumpRequest, dumpReference } from './dump-reference.js';
export { type Converted, type ConvertOptions, convertCheckpoint } from './files/convert-checkpoint.js';
export { IncompleteFileError } from './files/incomplete-file-error.js';
export { checkOutputFile, writeLatent } from './files/write-latent.js';
export { type LoadModelOptions, loadModel } from './load-model.js';
