// The autoencoder on the golden cases, and that windows and tiles change memory but not pictures.
import { beforeAll, describe, expect, it } from 'vitest';
import { OracleTensor } from '../../../test/backend/oracle/oracle-tensor.js';
import { createOracle } from '../../../test/backend/oracle.js';
import { goldenFolder, readCase } from '../../../test/golden/read-case.js';
import { relativeL2 } from '../../../test/golden/relative-l2.js';
import { type Backend, type Tensor, uploadFloats } from '../../backend/index.js';

import { openCheckpoint, WeightError, type WeightReader } from '../../weights/index.js';
import {
  decode,
  decodeMemory,
  decodeWindows,
  denormaliseLatents,
  encode,
  normaliseLatents,
  parseWanVaeConfig,
  readWanVae,
  type WanVae,
  type WindowOptions,
} from './index.js';

const b = createOracle();
const part = openCheckpoint(`${goldenFolder}/tiny-nano`).part('vae');
const config = parseWanVaeConfig(part.config, 'vae/config.json');
const golden = readCase('vae');
let vae: WanVae;
let reader: WeightReader;

beforeAll(() => {
  reader = part.weights();
  vae = readWanVae(b, reader, config);
});

async function floats(x: Tensor): Promise<Float32Array> {
  return new Float32Array((await b.download(x)).bytes.slice().buffer);
}

/** A golden `[1, C, F, H, W]` as `[F, H, W, C]`. */
function channelsLast(key: string): Tensor {
  return b.permute(uploadFloats(b, golden.floats(key), golden.shape(key).slice(1)), [1, 2, 3, 0]);
}

/** Smooth numbers in [-amplitude, amplitude], the same every time. */
function waves(shape: readonly number[], amplitude: number): Tensor {
  const count = shape.reduce((product, size) => product * size, 1);
  return uploadFloats(
    b,
    Float32Array.from({ length: count }, (_, i) => amplitude * Math.sin(i * 0.7 + (i % 11))),
    shape,
  );
}

function clamp(values: Float32Array): Float32Array {
  return values.map((x) => Math.max(-1, Math.min(1, x)));
}

describe('golden cases', () => {
  it('reads every tensor of the checkpoint', () => {
    expect(reader.unread()).toEqual([]);
  });

  it.each([1, 9])('encodes %i frames', async (frames) => {
    const latents = encode(b, vae, channelsLast(`encode${frames}/pixels`));
    expect(latents.shape).toEqual([(frames - 1) / 4 + 1, 3, 5, 8]);
    const wanted = await floats(channelsLast(`encode${frames}/latent_raw`));
    expect(relativeL2(await floats(latents), wanted)).toBeLessThan(1e-5);
  });

  it.each([1, 9])('decodes %i frames', async (frames) => {
    const pixels = decode(b, vae, channelsLast(`encode${frames}/latent_raw`));
    expect(pixels.shape).toEqual([frames, 48, 80, 3]);
    const wanted = await floats(channelsLast(`decode${frames}/pixels`));
    expect(relativeL2(clamp(await floats(pixels)), wanted)).toBeLessThan(1e-5);
  });
});

describe('windows', () => {
  it('give the same pixels bit for bit, whatever their size', async () => {
    const latents = waves([4, 1, 2, 8], 2);
    const whole = await floats(decode(b, vae, latents, { latentFramesPerWindow: 3 }));
    for (const latentFramesPerWindow of [1, 2])
      expect(await floats(decode(b, vae, latents, { latentFramesPerWindow }))).toEqual(whole);
  });

  it('give the same latents bit for bit, whatever their size', async () => {
    const pixels = waves([17, 32, 16, 3], 1);
    const whole = await floats(encode(b, vae, pixels, { latentFramesPerWindow: 4 }));
    for (const latentFramesPerWindow of [1, 3])
      expect(await floats(encode(b, vae, pixels, { latentFramesPerWindow }))).toEqual(whole);
  });

  it('leave as one frame, then four per latent', () => {
    const windows = [...decodeWindows(b, vae, waves([4, 1, 1, 8], 1), { latentFramesPerWindow: 2 })];
    expect(windows.map(({ shape }) => shape)).toEqual([
      [1, 16, 16, 3],
      [8, 16, 16, 3],
      [4, 16, 16, 3],
    ]);
  });

  it('depend on no later frame', async () => {
    const latents = waves([3, 1, 1, 8], 2);
    const start = await floats(decode(b, vae, b.slice(latents, 0, 0, 2)));
    expect((await floats(decode(b, vae, latents))).slice(0, start.length)).toEqual(start);
  });
});

describe('memory', () => {
  // A narrow network of zeros: what lives at once does not depend on values, and its shares are those of the real one.
  const narrow = parseWanVaeConfig({ ...Object(part.config), base_dim: 1, decoder_base_dim: 2 }, 'vae/config.json');

  /** Bytes at the peak of decoding clips of 1x1 latents window by window, each window freed as it comes. */
  function decodePeak(frames: number, options: WindowOptions): number {
    const { device, peak } = trackMemory();
    const tracked = readWanVae(device, zeroReader(part.weights()), narrow);
    const latents = device.zeros([(frames - 1) / 4 + 1, 1, 1, 8], 'f32');
    const before = peak.live;
    peak.most = before;
    for (const window of decodeWindows(device, tracked, latents, options)) window[Symbol.dispose]();
    expect(peak.live).toBe(before);
    return peak.most - before;
  }

  it('does not grow with the number of frames', () => {
    const short = decodePeak(49, {});
    expect(decodePeak(189, {})).toBeLessThanOrEqual(1.2 * short);
  });

  it('is all freed when the caller stops early, tiled or not', () => {
    const { device, peak } = trackMemory();
    const tracked = readWanVae(device, zeroReader(part.weights()), narrow);
    const latents = device.zeros([3, 1, 2, 8], 'f32');
    const before = peak.live;
    for (const options of [{}, { tiling: { size: 16, stride: 16 } }])
      for (const window of decodeWindows(device, tracked, latents, options)) {
        window[Symbol.dispose]();
        break;
      }
    expect(peak.live).toBe(before);
  });

  it('is what decodeMemory says', () => {
    for (const latentFramesPerWindow of [1, 4]) {
      const size = { frames: 49, height: 16, width: 16 };
      const said = decodeMemory(narrow, size, { latentFramesPerWindow, elementBytes: 4 });
      expect(decodePeak(49, { latentFramesPerWindow })).toBe(said);
    }
  });
});

describe('tiles', () => {
  it('are not cut where one covers the frame', async () => {
    const latents = waves([2, 1, 2, 8], 1);
    const tiled = await floats(decode(b, vae, latents, { tiling: { size: 64, stride: 48 } }));
    expect(tiled).toEqual(await floats(decode(b, vae, latents)));
  });

  it('equal the untiled picture beyond the reach of their edges', async () => {
    // Without its attention, which sees a whole tile, a pixel depends on 18 latents to each side.
    const local = readWanVae(b, zeroReader(part.weights(), /mid_block[.]attentions[.]0[.]proj/), config);
    const latents = waves([1, 1, 60, 8], 1);
    const whole = decode(b, local, latents);
    const tiled = decode(b, local, latents, { tiling: { size: 16 * 40, stride: 16 * 24 } }); // 0..40 and 24..60
    for (const [start, end] of [
      [0, 22],
      [42, 60],
    ] as const) {
      const columns = (x: Tensor) => floats(b.slice(x, 2, 16 * start, 16 * end));
      expect(await columns(tiled)).toEqual(await columns(whole));
    }
    const overlap = (x: Tensor) => floats(b.slice(x, 2, 16 * 30, 16 * 34));
    const distance = relativeL2(await overlap(tiled), await overlap(whole));
    expect(distance).toBeGreaterThan(0);
    expect(distance).toBeLessThan(0.1);
  });
});

describe('latent statistics', () => {
  it('normalise to (z - mean) / std and back', async () => {
    const raw = waves([1, 1, 2, 8], 3);
    const normalised = normaliseLatents(b, vae, raw);
    const [given, seen] = [await floats(raw), await floats(normalised)];
    for (const [i, z] of given.entries()) {
      const channel = i % 8;
      const wanted = (z - (config.latentsMean[channel] ?? 0)) / (config.latentsStd[channel] ?? 1);
      expect(seen[i]).toBeCloseTo(wanted, 6);
    }
    expect(relativeL2(await floats(denormaliseLatents(b, vae, normalised)), given)).toBeLessThan(1e-6);
  });
});

describe('errors', () => {
  it('names a frame count that is not 4n + 1, and the nearest that is', () => {
    expect(() => encode(b, vae, waves([4, 16, 16, 3], 1))).toThrow(
      'a clip has 4 frames, the autoencoder takes 4n + 1; use 5',
    );
  });

  it('names a size that is no multiple of 16', () => {
    expect(() => encode(b, vae, waves([1, 16, 24, 3], 1))).toThrow(
      'width is 24 pixels, the autoencoder takes multiples of 16',
    );
  });

  it('names a window of no frames', () => {
    expect(() => decode(b, vae, waves([2, 1, 1, 8], 1), { latentFramesPerWindow: 0 })).toThrow(
      'latentFramesPerWindow is 0',
    );
  });

  it.each([
    'decoder.up_blocks.0.upsampler.time_conv.weight',
    'encoder.mid_block.attentions.0.norm.gamma',
    'post_quant_conv.bias',
  ])('names the missing tensor %s', (name) => {
    expect(() => readWanVae(b, without(part.weights(), '', name), config)).toThrow(WeightError);
    expect(() => readWanVae(b, without(part.weights(), '', name), config)).toThrow(name);
  });

  it('names a misshaped tensor', () => {
    const wider = { ...config, decoder: config.decoder.map((block) => ({ ...block, input: block.input + 1 })) };
    expect(() => readWanVae(b, part.weights(), wider)).toThrow(WeightError);
    expect(() => readWanVae(b, part.weights(), wider)).toThrow(
      'decoder.conv_in.weight: expected shape [33, 8, 3, 3, 3], found [32, 8, 3, 3, 3]',
    );
  });
});

/** A reader that lacks one tensor. */
function without(inner: WeightReader, prefix: string, missing: string): WeightReader {
  return {
    ...inner,
    read(name, shape) {
      if (prefix + name === missing) throw new WeightError(missing, `shape [${shape.join(', ')}]`, 'no such tensor');
      return inner.read(name, shape);
    },
    scope: (name) => without(inner.scope(name), `${prefix}${name}.`, missing),
  };
}

/** A reader that gives zeros, of any shape, for names that match. */
function zeroReader(inner: WeightReader, names = /./, prefix = ''): WeightReader {
  return {
    ...inner,
    read(name, shape) {
      if (!names.test(prefix + name)) return inner.read(name, shape);
      const count = shape.reduce((product, size) => product * size, 1);
      return { name, dtype: 'f32', shape, bytes: new Uint8Array(4 * count) };
    },
    scope: (name) => zeroReader(inner.scope(name), names, `${prefix}${name}.`),
  };
}

/** An oracle that counts the bytes of live tensors; views count once with what they show. */
function trackMemory(): { device: Backend; peak: { live: number; most: number } } {
  const oracle = createOracle();
  const peak = { live: 0, most: 0 };
  const counted = new Set<OracleTensor['storage']>();
  const count = (tensor: OracleTensor) => {
    const { storage } = tensor;
    if (!counted.has(storage)) {
      counted.add(storage);
      peak.live += storage.buffer.byteLength;
      peak.most = Math.max(peak.most, peak.live);
    }
    const dispose = tensor[Symbol.dispose];
    tensor[Symbol.dispose] = () => {
      dispose.call(tensor);
      if (storage.owners === 0 && counted.delete(storage)) peak.live -= storage.buffer.byteLength;
    };
  };
  const device = new Proxy(oracle, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function' || key === 'scope') return member;
      return (...args: unknown[]) => {
        const result: unknown = Reflect.apply(member, target, args);
        if (result instanceof OracleTensor) count(result);
        return result;
      };
    },
  });
  return { device, peak };
}
