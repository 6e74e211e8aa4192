// Latents to frames and sound. Frames leave window by window, as bytes made on the device.
import { type Backend, disposeTensors, type Tensor } from '../../backend/index.js';
import type { Waveform } from '../../media/index.js';
import { decodeSound as decodeSoundLatents } from '../../models/sound-tokenizer/index.js';
import { decodeWindows, denormaliseLatents, type Tiling } from '../../models/wan-vae/index.js';
import type { Networks } from '../networks.js';
import type { PlannedSound } from '../plan-types.js';
import { latentFramesPerWindow } from './window.js';

export interface DecodedFrames {
  /** RGB `[count, height, width, 3]`. */
  readonly data: Uint8Array;
  readonly count: number;
  readonly width: number;
  readonly height: number;
  /** The same as device pixels; freed when the next window is asked for. */
  readonly pixels: Tensor;
}

export interface DecodeVisionOptions {
  /** Decode by tiles: less memory, slightly other pixels. */
  readonly tiling?: Tiling | undefined;
}

/** Decodes normalised vision latents `[T, H, W, C]`, a few latent frames at a time. A window is downloaded while the next one decodes. */
export async function* decodeVision(
  { backend: b, vae }: Networks,
  latents: Tensor,
  { tiling }: DecodeVisionOptions = {},
): AsyncGenerator<DecodedFrames, void> {
  const raw = b.scope(() => b.cast(denormaliseLatents(b, vae, latents), b.activationDtype));
  const pending: PendingFrames[] = [];
  try {
    const { spatialFactor, temporalFactor } = vae.config;
    const [, rows = 0, columns = 0] = latents.shape;
    const size = tiling
      ? { width: tiling.size, height: tiling.size }
      : { width: columns * spatialFactor, height: rows * spatialFactor };
    const options = { ...(tiling && { tiling }), latentFramesPerWindow: latentFramesPerWindow(size, temporalFactor) };
    for (const pixels of decodeWindows(b, vae, raw, options)) {
      pending.push(startDownload(b, pixels));
      if (pending.length > windowsInFlight) yield* arriveFirst(pending);
    }
    while (pending.length > 0) yield* arriveFirst(pending);
  } finally {
    disposeTensors([raw, pending.map(({ pixels }) => pixels)]);
  }
}

/** Windows that decode while the one before them is downloaded and handed on. */
const windowsInFlight = 1;

interface PendingFrames {
  readonly pixels: Tensor;
  readonly rgb: Promise<Uint8Array>;
}

function startDownload(b: Backend, pixels: Tensor): PendingFrames {
  const bytes = b.scope(() => b.toRgb8(pixels));
  const download = async () => {
    try {
      return (await b.download(bytes)).bytes;
    } finally {
      disposeTensors(bytes);
    }
  };
  const rgb = download();
  // Whoever stops the decoding does not wait for it; whoever goes on hears of its failure.
  rgb.catch(() => undefined);
  return { pixels, rgb };
}

async function* arriveFirst(pending: PendingFrames[]): AsyncGenerator<DecodedFrames, void> {
  const first = pending.shift();
  if (!first) return;
  const { pixels, rgb } = first;
  const [count = 0, height = 0, width = 0] = pixels.shape;
  try {
    yield { data: await rgb, count, height, width, pixels };
  } finally {
    disposeTensors(pixels);
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
