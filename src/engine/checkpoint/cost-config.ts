// The sizes of a checkpoint's networks that cost estimates depend on.
import {
  parseTransformerConfig,
  type Quantization,
  type Tower,
  type TransformerConfig,
} from '../../models/cosmos3-transformer/index.js';
import {
  decodeFlops,
  decodeMemory,
  defaultTiling,
  encodeFlops,
  parseWanVaeConfig,
  type Tiling,
  type WanVaeConfig,
  weightCount,
} from '../../models/wan-vae/index.js';
import type { CostConfig } from '../../pipeline/plan/cost.js';
import type { Checkpoint } from '../../weights/index.js';
import type { DeviceName } from '../loader.js';
import { type LayerKeeping, layerBytes } from './weight-bytes.js';

/** A clip that stands for all: attention's share, the only part that is not linear in pixels, is small there. */
const sample = { frames: 17, width: 256, height: 256 };

/** How a device keeps a checkpoint and decodes. */
export interface DeviceMemoryUse extends LayerKeeping {
  /** On the CPU weights stay in their mapped files, and activations are float32. */
  readonly kind: 'cpu' | 'gpu';
  /** Null where frames are decoded whole. */
  readonly tiling: Tiling | null;
}

/** Options that memory depends on. */
export interface MemoryOptions {
  readonly dtype?: 'f32' | 'bf16' | undefined;
  readonly quantization?: Quantization | undefined;
  readonly offload?: readonly Tower[] | undefined;
  readonly vaeTiling?: boolean | undefined;
}

/** What options mean for the memory of a device. */
export function memoryUse(
  device: DeviceName,
  { dtype = 'bf16', quantization, offload = [], vaeTiling }: MemoryOptions = {},
): DeviceMemoryUse {
  const tiling = vaeTiling === true ? defaultTiling : null;
  return device === 'cpu'
    ? { kind: 'cpu', dtype: 'f32', quantization: null, offload: [], tiling }
    : { kind: 'gpu', dtype, quantization: quantization ?? null, offload, tiling };
}

/** Reads the sizes. */
export function readCostConfig(checkpoint: Checkpoint, use: DeviceMemoryUse = memoryUse('cpu')): CostConfig {
  const part = checkpoint.part('transformer');
  const transformer = parseTransformerConfig(part.config, part.path);
  const vaePart = checkpoint.part('vae');
  const vae = parseWanVaeConfig(vaePart.config, vaePart.path);
  const pixels = sample.width * sample.height;
  const elementBytes = use.dtype === 'bf16' ? 2 : 4;
  const memory = (window: number, frames = sample.frames) =>
    decodeMemory(vae, { ...sample, frames }, { latentFramesPerWindow: window, elementBytes }) / pixels;
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
    ...weights(checkpoint, transformer, vae, use),
    ...(use.tiling && { tiling: use.tiling }),
  };
}

/** Files as they are mapped; on a GPU both towers, the embedding and both halves of the autoencoder, the rest is a thousandth of that. */
function weights(
  checkpoint: Checkpoint,
  transformer: TransformerConfig,
  vae: WanVaeConfig,
  use: DeviceMemoryUse,
): Pick<CostConfig, 'weightBytes' | 'hostWeightBytes'> {
  if (use.kind === 'cpu') {
    const files = checkpoint.partNames.flatMap((name) => checkpoint.part(name).weightFiles());
    return { weightBytes: files.reduce((sum, { size }) => sum + size, 0) };
  }
  const { device, host } = layerBytes(transformer, use);
  const others = transformer.vocabulary * transformer.hidden + weightCount(vae);
  return { weightBytes: device + others * (use.dtype === 'bf16' ? 2 : 4), hostWeightBytes: host };
}
