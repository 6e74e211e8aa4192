// Fits the projection of a checkpoint: a made-up picture goes through the autoencoder and back, and teaches what its latents mean.
import { disposeTensors, uploadFloats } from '../../backend/index.js';
import { encodePixels, uploadPixels } from '../conditioning/vision-source.js';
import { decodeVision } from '../decode/decode.js';
import type { Networks } from '../networks.js';
import { fitProjection, type Projection } from './projection.js';

/** Latent pixels in the picture for each channel of a latent. */
const samplesPerChannel = 3;

/** Fits the projection of loaded networks. */
export async function fitCheckpoint(networks: Networks): Promise<Projection> {
  const { backend: b, vae } = networks;
  const { spatialFactor: factor, latentChannels } = vae.config;
  const side = Math.ceil(Math.sqrt(samplesPerChannel * latentChannels)) + 1;
  const size = { width: side * factor, height: side * factor };
  const latents = await encodePixels(networks, () => uploadPixels(b, colourFields(size.width, factor), 1, size));
  const tensor = uploadFloats(b, latents.data, latents.shape);
  try {
    for await (const { data, width } of decodeVision(networks, tensor)) {
      const colours = meanColours(data, width, factor);
      return fitProjection(latents.data, colours, latentChannels);
    }
  } finally {
    disposeTensors(tensor);
  }
  throw new Error('the autoencoder made no frame of one latent frame');
}

/** A square picture of colour fields that run into each other, RGB bytes: every latent pixel sees another colour. */
export function colourFields(width: number, factor: number): Uint8Array {
  const rgb = new Uint8Array(3 * width * width);
  const waves = Array.from({ length: 24 }, (_, i) => {
    const [u, v, phase, tint] = [fraction(4 * i), fraction(4 * i + 1), fraction(4 * i + 2), fraction(4 * i + 3)];
    const speed = (2 * Math.PI * (0.2 + 2.3 * (i / 24))) / (4 * factor);
    return {
      x: speed * (2 * u - 1),
      y: speed * (2 * v - 1),
      phase: 2 * Math.PI * phase,
      channel: i % 3,
      size: 30 + 50 * tint,
    };
  });
  for (let y = 0; y < width; y++) {
    for (let x = 0; x < width; x++) {
      const colour = [128, 128, 128];
      for (const wave of waves)
        colour[wave.channel] = (colour[wave.channel] ?? 0) + wave.size * Math.sin(wave.x * x + wave.y * y + wave.phase);
      for (let k = 0; k < 3; k++) rgb[3 * (y * width + x) + k] = Math.max(0, Math.min(255, colour[k] ?? 0));
    }
  }
  return rgb;
}

/** The i-th of some numbers in 0 … 1 that look random and never change. */
function fraction(i: number): number {
  const value = Math.sin(12.9898 * (i + 1)) * 43_758.5453;
  return value - Math.floor(value);
}

/** Mean colour of each block of `factor` x `factor` pixels, `[blocks, 3]`. */
function meanColours(rgb: Uint8Array, width: number, factor: number): Float64Array {
  const blocks = width / factor;
  const sums = new Float64Array(3 * blocks * blocks);
  for (let y = 0; y < width; y++) {
    for (let x = 0; x < width; x++) {
      const block = Math.floor(y / factor) * blocks + Math.floor(x / factor);
      for (let k = 0; k < 3; k++)
        sums[3 * block + k] = (sums[3 * block + k] as number) + (rgb[3 * (y * width + x) + k] as number);
    }
  }
  return sums.map((sum) => sum / factor ** 2);
}
