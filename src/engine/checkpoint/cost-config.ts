// The sizes of a checkpoint's networks that cost estimates depend on.
import { parseTransformerConfig, type TransformerConfig } from '../../models/cosmos3-transformer/index.js';
import {
  decodeFlops,
  decodeMemory,
  encodeFlops,
  parseWanVaeConfig,
  type WanVaeConfig,
  weightCount,
} from '../../models/wan-vae/index.js';
import type { CostConfig } from '../../pipeline/plan/cost.js';
import type { Checkpoint } from '../../weights/index.js';

/** A clip that stands for all: attention's share, the only part that is not linear in pixels, is small there. */
const sample = { frames: 17, width: 256, height: 256 };

/** How a device keeps a checkpoint. */
export type DeviceMemoryUse =
  /** Weights stay in their mapped files; activations are float32. */
  { readonly kind: 'cpu' } | { readonly kind: 'gpu'; readonly dtype: 'f32' | 'bf16'; readonly isQuantized: boolean };

/** Reads the sizes. */
export function readCostConfig(checkpoint: Checkpoint, use: DeviceMemoryUse = { kind: 'cpu' }): CostConfig {
  const part = checkpoint.part('transformer');
  const transformer = parseTransformerConfig(part.config, part.path);
  const vaePart = checkpoint.part('vae');
  const vae = parseWanVaeConfig(vaePart.config, vaePart.path);
  const pixels = sample.width * sample.height;
  const elementBytes = use.kind === 'gpu' && use.dtype === 'bf16' ? 2 : 4;
  const memory = (window: number, frames = sample.frames) =>
    decodeMemory(vae, { ...sample, frames }, { latentFramesPerWindow: window, elementBytes }) / pixels;
  const files = checkpoint.partNames.flatMap((name) => checkpoint.part(name).weightFiles());
  return {
    layers: transformer.layers,
    hiddenSize: transformer.hidden,
    intermediateSize: transformer.inner,
    heads: transformer.heads,
    kvHeads: transformer.kvHeads,
    headDim: transformer.headDim,
    gatedMlp: transformer.mlp === 'swiglu',
    patch: transformer.patch,
    latentChannels: transformer.latentChannels,
    spatialCompression: vae.spatialFactor,
    temporalCompression: vae.temporalFactor,
    vaeDecodeFlops: decodeFlops(vae, sample) / (pixels * sample.frames),
    vaeEncodeFlops: encodeFlops(vae, sample) / (pixels * sample.frames),
    vaeBytesPerPixelStill: memory(1, 1),
    vaeBytesPerPixel: memory(1),
    vaeBytesPerPixelMore: (memory(4) - memory(1)) / 3,
    elementBytes,
    weightBytes:
      use.kind === 'cpu' ? files.reduce((sum, { size }) => sum + size, 0) : gpuWeightBytes(transformer, vae, use),
  };
}

/** Both towers, the embedding and both halves of the autoencoder; heads and norms are a thousandth of that. */
function gpuWeightBytes(
  transformer: TransformerConfig,
  vae: WanVaeConfig,
  { dtype, isQuantized }: Extract<DeviceMemoryUse, { readonly kind: 'gpu' }>,
): number {
  const { hidden, inner, layers, heads, kvHeads, headDim, mlp, vocabulary } = transformer;
  const attention = 2 * hidden * (heads + kvHeads) * headDim;
  const linear = 2 * layers * (attention + (mlp === 'swiglu' ? 3 : 2) * hidden * inner);
  const bytes = dtype === 'bf16' ? 2 : 4;
  return linear * (isQuantized ? 1 : bytes) + (vocabulary * hidden + weightCount(vae)) * bytes;
}
