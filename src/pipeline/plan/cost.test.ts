import { describe, expect, it } from 'vitest';
import { givenHint, inputFacts, planOf } from '../../../test/pipeline/plan-facts.js';
import type { Plan } from '../plan-types.js';
import { type CostConfig, estimateCost } from './cost.js';

/** The published video autoencoder: 3210 TFLOP decode and 608 encode 1280x720 at 189 frames; window activations in float32. */
const publishedVae = {
  vaeDecodeFlops: 1.843e7,
  vaeEncodeFlops: 3.49e6,
  vaeBytesPerPixelStill: 4000,
  vaeBytesPerPixel: 14_000,
  vaeBytesPerPixelMore: 7000,
} as const;

/** The published nano checkpoint. */
const nano: CostConfig = {
  layers: 36,
  hiddenSize: 4096,
  intermediateSize: 12_288,
  heads: 32,
  kvHeads: 8,
  headDim: 128,
  gatedMlp: true,
  patch: 2,
  latentChannels: 48,
  spatialCompression: 16,
  temporalCompression: 4,
  ...publishedVae,
  elementBytes: 4,
  weightBytes: 30.35e9,
};
const tera = 1e12;

/** A plan with texts of given lengths. */
function withTexts(planned: Plan, positive: number, negative: number | null): Plan {
  const text = (n: number) => ({ text: '', truncated: false, tokens: Array.from({ length: n }, () => 0) });
  return { ...planned, prompt: text(positive), negativePrompt: negative === null ? null : text(negative) };
}

describe('one pass without guidance over 1000 text tokens', () => {
  // Tokens and TFLOP as the performance spec has them (C.2).
  it.each([
    [320, 192, 49, 780, 11.7],
    [832, 480, 49, 5070, 88.6],
    [832, 480, 189, 18_720, 477.8],
    [1280, 720, 25, 6440, 117.7],
    [1280, 720, 189, 44_160, 1789.7],
    [1280, 704, 189, 42_240, 1664.1],
    [1024, 1024, 1, 1024, 15.4],
  ])('%dx%d, %d frames: %d tokens', (width, height, frames, tokens, teraflops) => {
    const planned = withTexts(planOf({ width, height, frames, steps: 1, guidance: 1 }), 1000, null);
    const cost = estimateCost(planned, nano);
    expect(cost.tokens.vision).toBe(tokens);
    expect(cost.passes).toBe(1);
    expect(Math.abs(cost.flops.denoise / tera - teraflops)).toBeLessThan(teraflops * 0.006);
  });
});

describe('a whole job', () => {
  it('720p, 189 frames, 35 steps with guidance is 127.5 PFLOP, and decodes 3210 TFLOP', () => {
    const cost = estimateCost(withTexts(planOf({}), 1550, 2800), nano);
    expect(cost.passes).toBe(70);
    expect(cost.flops.denoise / 1e15).toBeCloseTo(127.5, 0);
    expect(cost.flops.decode / tera).toBeCloseTo(3210, -1);
    expect(cost.flops.encode).toBe(0);
    expect(cost.flops.text / tera).toBeCloseTo(22.2 + 41.2, 0);
    expect(cost.flops.total).toBeCloseTo(cost.flops.text + cost.flops.denoise + cost.flops.decode, -9);
  });

  it('leaves out skipped steps and steps outside the interval', () => {
    const cost = (request: object) =>
      estimateCost(planOf({ steps: 10, width: 160, height: 96, frames: 5, ...request }), nano).passes;
    expect(cost({})).toBe(20);
    expect(cost({ skipSteps: [3, 5, 7] })).toBe(14);
    expect(cost({ guidanceInterval: [1001, 1002] })).toBe(10);
    expect(cost({ guidance: 1 })).toBe(10);
    expect(cost({ guidanceEvery: 2 })).toBe(15);
    expect(cost({ guidanceEvery: 3 })).toBe(14);
  });

  it('encodes one frame of an image', () => {
    const cost = estimateCost(planOf({ frames: 9 }, { image: inputFacts(1280, 720) }), nano);
    expect(cost.flops.encode).toBeCloseTo(1280 * 720 * publishedVae.vaeEncodeFlops, -6);
  });

  it('counts chunks, controls and branches of a transfer', () => {
    const transfer = { hints: [givenHint('edge'), givenHint('depth')], chunkFrames: 9, controlGuidance: 2 };
    const request = { transfer, resolution: '256', steps: 2 };
    const hints = [inputFacts(320, 192, 25, 24), inputFacts(320, 192, 25, 24)];
    const cost = estimateCost(planOf(request, { hints }), nano);
    expect(cost.chunks).toBe(3);
    expect(cost.passes).toBe(3 * 2 * 3);
    expect(cost.tokens).toMatchObject({ vision: 180, controls: 360 });
    expect(cost.flops.encode).toBeCloseTo((2 * 27 + 18) * 320 * 192 * publishedVae.vaeEncodeFlops, -6);
  });

  it('has no decode where only actions are wanted, and counts only what the source fills', () => {
    const action = { domainName: 'umi', rawActionDim: 10, chunk: 8, actionsOnly: true };
    const cost = estimateCost(
      planOf({ task: 'policy', action, resolution: '256' }, { image: inputFacts(176, 128) }),
      nano,
    );
    expect(cost.flops.decode).toBe(0);
    expect(cost.tokens).toMatchObject({ vision: 3 * 4 * 6, action: 8, sound: 0 });
  });

  it('needs more memory for more frames and never less than the weights', () => {
    const memory = (frames: number) => estimateCost(planOf({ frames, width: 832, height: 480 }), nano).memoryBytes;
    expect(memory(49)).toBeGreaterThan(nano.weightBytes);
    // The decoder walks windows, so its share does not grow; the frames as bytes do.
    expect(memory(189) - memory(49)).toBeGreaterThanOrEqual(140 * 832 * 480 * 3);
  });
});

describe("a GPU's memory", () => {
  /** Nano in bfloat16, its autoencoder's windows as the networks' own sizes give them. */
  const onGpu: CostConfig = {
    ...nano,
    elementBytes: 2,
    weightBytes: 29.04 * 2 ** 30,
    vaeBytesPerPixelStill: 500,
    vaeBytesPerPixel: 500,
    vaeBytesPerPixelMore: 0,
  };

  it('is what was measured for the generation tower: 36.21 GiB at 1280x720 and 189 frames', () => {
    const planned = withTexts(planOf({ guidance: 1 }), 300, null);
    const gib = estimateCost(planned, onGpu).memoryBytes / 2 ** 30;
    expect(Math.abs(gib - 36.21)).toBeLessThan(0.1 * (36.21 - 29.04));
  });

  it('of a decoder by tiles is one tile and the tiles of the whole clip; windows are four latent frames then', () => {
    const planned = withTexts(planOf({ guidance: 1 }), 300, null);
    const wide = { ...onGpu, vaeBytesPerPixel: 10_000, vaeBytesPerPixelMore: 5000 };
    const tiled = { ...wide, tiling: { size: 256, stride: 192 }, layers: 0, hiddenSize: 0, intermediateSize: 0 };
    // 45 rows of latents in tiles of 16 every 12: 16 + 16 + 16 + 9; 80 columns: 6 x 16 + 8.
    const kept = 3 * 2 * (57 * 16) * (104 * 16) * 189;
    const expected = onGpu.weightBytes + kept + 256 * 256 * 25_000 + 3 * 1280 * 720 * 189;
    expect(estimateCost(planned, tiled).memoryBytes).toBe(Math.ceil(expected));
    // A picture of one tile is decoded as it would be anyway.
    const small = withTexts(planOf({ guidance: 1, width: 256, height: 256, frames: 17 }), 300, null);
    expect(estimateCost(small, tiled).memoryBytes).toBe(
      estimateCost(small, { ...wide, layers: 0, hiddenSize: 0, intermediateSize: 0 }).memoryBytes,
    );
  });

  it('has what lies in the host beside it', () => {
    const planned = withTexts(planOf({ guidance: 1 }), 300, null);
    expect(estimateCost(planned, onGpu).hostMemoryBytes).toBe(0);
    expect(estimateCost(planned, { ...onGpu, hostWeightBytes: 5 }).hostMemoryBytes).toBe(5);
  });

  it('is that of the decoder where that needs more', () => {
    const planned = withTexts(planOf({ guidance: 1 }), 300, null);
    const wide = { ...onGpu, vaeBytesPerPixel: 10_000, vaeBytesPerPixelMore: 5000 };
    const expected = onGpu.weightBytes + 1280 * 720 * 15_000 + 3 * 1280 * 720 * 189;
    const textCache = 36 * 2 * 8 * 128 * 300 * 2;
    expect(estimateCost(planned, wide).memoryBytes).toBe(Math.ceil(expected + textCache));
  });
});
