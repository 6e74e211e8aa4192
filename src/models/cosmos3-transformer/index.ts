// Cosmos3's transformer: two towers of layers, one for text and one for everything that is generated.
export { type AttentionRoute, groupRoutes, type RouteGroup } from '../../nn/attention.js';
export { type Positions, type RopeTables, ropeTables } from '../../nn/rope.js';
export { embedTimesteps } from '../../nn/timestep.js';
export { parseTransformerConfig, type TransformerConfig } from './config.js';
export {
  firstLayerInput,
  type GenContext,
  type GenPass,
  type GenSegment,
  predictVelocities,
  predictVelocity,
  type StepOptions,
  segmentRows,
} from './generation-tower.js';
export { type PatchGrid, patchGrid, patchify, unpatchify } from './patches.js';
export {
  checkQuantization,
  linearFormats,
  type Projection,
  planWideSteps,
  projections,
  type Quantization,
  QuantizationError,
  type Tower,
} from './quantization.js';
export { type KvCache, prefill, prefillRows } from './text-tower.js';
export {
  type ActionProjection,
  readActionProjection,
  readTransformer,
  type Transformer,
  type TransformerPlacement,
} from './weights.js';
