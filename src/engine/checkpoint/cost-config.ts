// The sizes of a checkpoint's networks that cost estimates depend on.
import { parseTransformerConfig } from '../../models/cosmos3-transformer/index.js';
import { decodeFlops, decodeMemory, encodeFlops, parseWanVaeConfig } from '../../models/wan-vae/index.js';
import type { CostConfig } from '../../pipeline/plan/cost.js';
import type { Checkpoint } from '../../weights/index.js';

/** A clip that stands for all: attention's share, the only part that is not linear in pixels, is small there. */
const sample = { frames: 17, width: 256, height: 256 };

/** Reads the sizes. Weights count as they lie in their files, since they are mapped. */
export function readCostConfig(checkpoint: Checkpoint): CostConfig {
  const part = checkpoint.part('transformer');
  const transformer = parseTransformerConfig(part.config, part.path);
  const vaePart = checkpoint.part('vae');
  const vae = parseWanVaeConfig(vaePart.config, vaePart.path);
  const pixels = sample.width * sample.height;
  const memory = decodeMemory(vae, sample, { latentFramesPerWindow: 1, elementBytes: 4 });
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
    vaeBytesPerPixel: memory / pixels,
    weightBytes: files.reduce((sum, { size }) => sum + size, 0),
  };
}
