// The video autoencoder of Wan 2.2, as Cosmos3 uses it.
export { latentFrames, parseWanVaeConfig, pixelFrames, type WanVaeConfig } from './config.js';
export {
  type ClipSize,
  type DecodeMemoryOptions,
  decodeFlops,
  decodeMemory,
  encodeFlops,
  weightCount,
} from './cost.js';
export { defaultTiling, type Tiling, tiledPixels } from './tiles.js';
export {
  type DecodeOptions,
  decode,
  decodeWindows,
  denormaliseLatents,
  encode,
  normaliseLatents,
  readWanVae,
  type WanVae,
  type WindowOptions,
} from './wan-vae.js';
