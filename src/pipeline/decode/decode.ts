// Latents to frames and sound. Frames leave window by window, as bytes made on the device.
import { type Backend, disposeTensors, type Tensor } from '../../backend/index.js';
import type { Waveform } from '../../media/index.js';
import { decodeSound as decodeSoundLatents } from '../../models/sound-tokenizer/index.js';
import { decodeWindows, denormaliseLatents } from '../../models/wan-vae/index.js';
import type { Networks } from '../networks.js';
import type { PlannedSound } from '../plan-types.js';

export interface DecodedFrames {
  /** RGB `[count, height, width, 3]`. */
  readonly data: Uint8Array;
  readonly count: number;
  readonly width: number;
  readonly height: number;
  /** The same as device pixels; freed when the next window is asked for. */
  readonly pixels: Tensor;
}

/** Decodes normalised vision latents `[T, H, W, C]`, a few latent frames at a time. */
export async function* decodeVision(
  { backend: b, vae }: Networks,
  latents: Tensor,
): AsyncGenerator<DecodedFrames, void> {
  const raw = b.scope(() => b.cast(denormaliseLatents(b, vae, latents), b.activationDtype));
  try {
    for (const pixels of decodeWindows(b, vae, raw)) {
      const [count = 0, height = 0, width = 0] = pixels.shape;
      yield { data: await downloadRgb(b, pixels), count, height, width, pixels };
      disposeTensors(pixels);
    }
  } finally {
    disposeTensors(raw);
  }
}

async function downloadRgb(b: Backend, pixels: Tensor): Promise<Uint8Array> {
  const rgb = b.scope(() => b.toRgb8(pixels));
  try {
    return (await b.download(rgb)).bytes;
  } finally {
    disposeTensors(rgb);
  }
}

/** Decodes sound latents `[T, C]`; trimmed to the plan's samples, or whole hops where the plan says so. */
export async function decodeSound(
  { backend: b, sound }: Networks,
  latents: Tensor,
  plan: PlannedSound,
): Promise<Waveform> {
  if (!sound) throw new Error('this checkpoint has no sound tokenizer');
  const { channels: count, sampleRate } = sound.config;
  const values = await decodeSoundLatents(b, sound, latents); // [N, channels], interleaved
  const length = plan.trim ? Math.min(values.length / count, plan.samples) : values.length / count;
  const channels = Array.from({ length: count }, (_, c) =>
    Float32Array.from({ length }, (_, i) => values[i * count + c] as number),
  );
  return { sampleRate, channels };
}
