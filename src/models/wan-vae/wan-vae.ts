// The video autoencoder: whole clips in one causal pass, walked in windows of frames so that memory does not grow with time.
// Zeros before the clip stand for its past, so windows give what the whole clip at once would give. Source: spec, section 5.
import { type Backend, type Tensor, uploadFloats } from '../../backend/index.js';
import { FrameHistory } from '../../nn/conv.js';

import type { WeightReader } from '../../weights/index.js';
import { latentFrames, pixelFrames, type WanVaeConfig } from './config.js';
import { type Decoder, decodeWindow, holdDecoder, readDecoder } from './decoder.js';
import { type Encoder, encodeWindow, holdEncoder, readEncoder } from './encoder.js';
import { blendTiles, type Span, type Tiling, tileSpans } from './tiles.js';

export interface WanVae {
  readonly config: WanVaeConfig;
  readonly encoder: Encoder;
  readonly decoder: Decoder;
  /** Latent statistics, float32 `[z]`: what latents are multiplied by and then shifted by, in each direction. */
  readonly statistics: {
    readonly std: Tensor;
    readonly mean: Tensor;
    readonly inverseStd: Tensor;
    readonly negativeMean: Tensor;
  };
}

/** Reads both halves. @throws WeightError naming a missing or misshaped tensor. */
export function readWanVae(b: Backend, reader: WeightReader, config: WanVaeConfig): WanVae {
  const vector = (values: readonly number[], f: (x: number) => number) =>
    uploadFloats(b, Float32Array.from(values, f), [values.length]);
  return {
    config,
    encoder: readEncoder(b, reader, config),
    decoder: readDecoder(b, reader, config),
    statistics: {
      std: vector(config.latentsStd, (x) => x),
      mean: vector(config.latentsMean, (x) => x),
      inverseStd: vector(config.latentsStd, (x) => 1 / x),
      negativeMean: vector(config.latentsMean, (x) => -x),
    },
  };
}

/** Raw latents `[T, h, w, z]` to what the transformer sees, `(z - mean) / std`, float32. */
export function normaliseLatents(b: Backend, { statistics }: WanVae, latents: Tensor): Tensor {
  return b.scope(() => b.multiply(b.add(b.cast(latents, 'f32'), statistics.negativeMean), statistics.inverseStd));
}

/** The inverse of `normaliseLatents`: `z * std + mean`, float32. */
export function denormaliseLatents(b: Backend, { statistics }: WanVae, latents: Tensor): Tensor {
  return b.scope(() => b.add(b.multiply(b.cast(latents, 'f32'), statistics.std), statistics.mean));
}

/** How a clip is walked. */
export interface WindowOptions {
  /** Latent frames per window after the first, which is always one; more need more memory and give the same numbers. Default 4. */
  readonly latentFramesPerWindow?: number;
}

/** The windows of a clip of T latent frames: the first frame alone, then `size` at a time. */
function* windowsOf(frames: number, { latentFramesPerWindow: size = 4 }: WindowOptions): Generator<[number, number]> {
  if (!Number.isInteger(size) || size < 1)
    throw new RangeError(`latentFramesPerWindow is ${size}; it must be a whole number of at least 1`);
  yield [0, 1];
  for (let start = 1; start < frames; start += size) yield [start, Math.min(start + size, frames)];
}

/**
 * Encodes `pixels [F, H, W, 3]` in [-1, 1] to raw latents `[T, H/16, W/16, z]` (the means), T = (F-1)/4 + 1.
 * A single frame is one pass without history.
 * @throws RangeError when F is not 4n + 1, or H or W no multiple of 16 (of the config's factors).
 */
export function encode(b: Backend, vae: WanVae, pixels: Tensor, options: WindowOptions = {}): Tensor {
  const [count = 0, height = 0, width = 0] = pixels.shape;
  const total = latentFrames(vae.config, count);
  requireMultiple('height', height, vae.config.spatialFactor);
  requireMultiple('width', width, vae.config.spatialFactor);
  using history = new FrameHistory(b);
  if (total > 1) holdEncoder(vae.encoder, history, height, width);
  return b.scope(() => {
    const windows: Tensor[] = [];
    for (const [start, end] of windowsOf(total, options)) {
      const first = start === 0 ? 0 : pixelFrames(vae.config, start);
      const frames = b.slice(pixels, 0, first, pixelFrames(vae.config, end));
      windows.push(encodeWindow(b, vae.encoder, frames, history));
      history.begin();
    }
    return windows.length === 1 && windows[0] ? windows[0] : b.concat(windows, 0);
  });
}

export interface DecodeOptions extends WindowOptions {
  /** Decode by spatial tiles: less memory, a little more work, slightly other pixels (attention sees one tile only). */
  readonly tiling?: Tiling;
}

/**
 * Decodes raw `latents [T, h, w, z]` window by window: pixels `[F, 16h, 16w, 3]`, first one frame, then four per latent.
 * Values may leave [-1, 1] a little; `toRgb8` clamps. The caller owns, and frees, each window's tensor, and takes all windows
 * in one scope. With tiles, windows come once the last tile is done, since each lies in all of them.
 * @throws RangeError for a window or tiles that cannot be.
 */
export function* decodeWindows(
  b: Backend,
  vae: WanVae,
  latents: Tensor,
  options: DecodeOptions = {},
): Generator<Tensor> {
  const { tiling, ...windows } = options;
  if (tiling) return yield* decodeTiles(b, vae, latents, windows, tiling);
  const [frames = 0, height = 0, width = 0] = latents.shape;
  using history = new FrameHistory(b);
  if (frames > 1) holdDecoder(vae.decoder, history, height, width);
  for (const [start, end] of windowsOf(frames, windows)) {
    const pixels = b.scope(() => decodeWindow(b, vae.decoder, b.slice(latents, 0, start, end), history));
    history.begin();
    yield pixels;
  }
}

/** Tile by tile through all of time, since a history for every tile at once would outweigh what tiles save. */
function* decodeTiles(
  b: Backend,
  vae: WanVae,
  latents: Tensor,
  windows: WindowOptions,
  tiling: Tiling,
): Generator<Tensor> {
  const { config } = vae;
  const [frames = 0, height = 0, width = 0] = latents.shape;
  const [rows, columns] = [height, width].map((length) => tileSpans(length, tiling, config.spatialFactor)) as [
    Span[],
    Span[],
  ];
  if (rows.length === 1 && columns.length === 1) return yield* decodeWindows(b, vae, latents, windows);
  const tiles = rows.map((row) =>
    columns.map((column) => {
      const shape = [row.end - row.start, column.end - column.start].map((n) => n * config.spatialFactor);
      return { row, column, pixels: b.zeros([pixelFrames(config, frames), ...shape, 3], b.activationDtype) };
    }),
  );
  try {
    for (const { row, column, pixels } of tiles.flat()) {
      using part = b.scope(() => b.slice(b.slice(latents, 1, row.start, row.end), 2, column.start, column.end));
      let frame = 0;
      for (const window of decodeWindows(b, vae, part, windows)) {
        const count = window.shape[0] ?? 0;
        b.scope(() => {
          b.write(b.slice(pixels, 0, frame, frame + count), window);
          return null;
        });
        window[Symbol.dispose]();
        frame += count;
      }
    }
    for (const [start, end] of windowsOf(frames, windows)) {
      const first = start === 0 ? 0 : pixelFrames(config, start);
      const last = pixelFrames(config, end);
      yield b.scope(() => {
        const parts = tiles.map((line) => line.map(({ pixels }) => b.slice(pixels, 0, first, last)));
        return blendTiles(b, parts, tiling.size - tiling.stride); // [F, 16h, 16w, 3]
      });
    }
  } finally {
    for (const { pixels } of tiles.flat()) pixels[Symbol.dispose]();
  }
}

/** Decodes a whole clip into one tensor; see `decodeWindows`. */
export function decode(b: Backend, vae: WanVae, latents: Tensor, options: DecodeOptions = {}): Tensor {
  return b.scope(() => b.concat([...decodeWindows(b, vae, latents, options)], 0));
}

function requireMultiple(what: string, size: number, factor: number): void {
  if (size < factor || size % factor !== 0)
    throw new RangeError(
      `${what} is ${size} pixels, the autoencoder takes multiples of ${factor}; pad or scale to one`,
    );
}
