// What a plan costs: tokens, floating-point operations and memory, from plain numbers. It lies beside the plan, not in it.
// Source: performance spec, C (a multiply-add counts as two operations).

import { type Tiling, tiledPixels } from '../../models/wan-vae/index.js';
import { latentFramesPerWindow } from '../decode/window.js';
import { branchNames, branchWeights } from '../denoise/guidance.js';
import { GuidanceReuse } from '../denoise/reuse/guidance-reuse.js';
import { makeSchedule } from '../denoise/schedule.js';
import type { Plan } from '../plan-types.js';
import { wholeFrames } from './clip.js';

/** Sizes of the networks that the estimate depends on. */
export interface CostConfig {
  readonly layers: number;
  readonly hiddenSize: number;
  readonly intermediateSize: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** Three matrices in the feed-forward part instead of two. */
  readonly gatedMlp: boolean;
  /** Latent rows and columns per token. */
  readonly patch: number;
  readonly latentChannels: number;
  readonly spatialCompression: number;
  readonly temporalCompression: number;
  /** Operations per pixel and frame of the video autoencoder. */
  readonly vaeDecodeFlops: number;
  readonly vaeEncodeFlops: number;
  /** Bytes of activations per pixel of the canvas while a picture is decoded. */
  readonly vaeBytesPerPixelStill: number;
  /** The same for a window of one latent frame of a clip, and for each further one. */
  readonly vaeBytesPerPixel: number;
  readonly vaeBytesPerPixelMore: number;
  /** Bytes of an activation: 4 for float32, 2 for bfloat16. */
  readonly elementBytes: 2 | 4;
  /** Bytes of weights as they lie in the device's memory; of layers that leave it between uses, the room for two. */
  readonly weightBytes: number;
  /** Bytes of weights in page-locked host memory; none where absent. */
  readonly hostWeightBytes?: number;
  /** How frames are decoded by tiles; whole where absent. */
  readonly tiling?: Tiling;
}

export interface TokenCounts {
  readonly text: number;
  readonly negativeText: number;
  /** Of one run of the denoise loop (one chunk of a transfer). */
  readonly vision: number;
  readonly controls: number;
  readonly sound: number;
  readonly action: number;
}

export interface CostEstimate {
  readonly tokens: TokenCounts;
  /** Runs of the denoise loop. */
  readonly chunks: number;
  /** Passes through the generation tower over all chunks and steps. */
  readonly passes: number;
  readonly flops: {
    readonly text: number;
    readonly denoise: number;
    readonly encode: number;
    readonly decode: number;
    readonly total: number;
  };
  /** Peak of the device, weights included. */
  readonly memoryBytes: number;
  /** Of that, keys and values of the prompts, which may be kept for later jobs. */
  readonly textBytes: number;
  /** Page-locked memory of the host that holds weights outside a GPU. */
  readonly hostMemoryBytes: number;
}

/** Estimates a plan. */
export function estimateCost(plan: Plan, config: CostConfig): CostEstimate {
  const runFrames = plan.transfer?.chunkFrames ?? wholeFrames(plan.frames, config.temporalCompression);
  const tokens = countTokens(plan, runFrames, config);
  const chunks = countChunks(plan);
  const work = denoiseWork(plan, tokens, config);
  const text = textFlops(tokens.text, config) + textFlops(tokens.negativeText, config);
  const pixels = plan.content.width * plan.content.height;
  const decodes = plan.action?.decodeVideo ?? true;
  const decode = decodes ? chunks * runFrames * pixels * config.vaeDecodeFlops : 0;
  const encode =
    encodedFrames(plan, runFrames, chunks) * plan.canvas.width * plan.canvas.height * config.vaeEncodeFlops;
  const denoise = chunks * work.flops;
  return {
    tokens,
    chunks,
    passes: chunks * work.passes,
    flops: { text, denoise, encode, decode, total: text + denoise + encode + decode },
    memoryBytes: memoryBytes(plan, tokens, runFrames, config),
    textBytes: textBytes(tokens, config),
    hostMemoryBytes: config.hostWeightBytes ?? 0,
  };
}

function countTokens(plan: Plan, runFrames: number, config: CostConfig): TokenCounts {
  const latentFrames = (runFrames - 1) / config.temporalCompression + 1;
  const side = (pixels: number) => Math.ceil(Math.floor(pixels / config.spatialCompression) / config.patch);
  const vision = latentFrames * side(plan.content.width) * side(plan.content.height);
  return {
    text: plan.prompt.tokens.length,
    negativeText: plan.negativePrompt?.tokens.length ?? 0,
    vision,
    controls: vision * (plan.transfer?.hints.length ?? 0),
    sound: plan.sound?.latentFrames ?? 0,
    action: plan.action?.rows ?? 0,
  };
}

function countChunks({ transfer }: Plan): number {
  if (!transfer) return 1;
  const { totalFrames, chunkFrames, conditionalFrames } = transfer;
  return 1 + Math.ceil(Math.max(0, totalFrames - chunkFrames) / (chunkFrames - conditionalFrames || 1));
}

/** Frames that go through the encoder: each control of each chunk, and what conditions the target. */
function encodedFrames({ condition, transfer }: Plan, runFrames: number, chunks: number): number {
  if (!transfer) return condition?.pixelFrames ?? 0;
  const { hints, firstChunkConditionalFrames, conditionalFrames } = transfer;
  const first = firstChunkConditionalFrames > 0 ? runFrames : 0;
  const later = conditionalFrames > 0 ? (chunks - 1) * runFrames : 0;
  return hints.length * chunks * runFrames + first + later;
}

/** Passes and operations of one run of the loop: the branches each step needs, less the listed steps; a step cache may skip more. */
function denoiseWork(plan: Plan, tokens: TokenCounts, config: CostConfig): { passes: number; flops: number } {
  const { timesteps } = makeSchedule(plan);
  const hasControls = tokens.controls > 0;
  const skipped = new Set(plan.skip.steps);
  const guidance = new GuidanceReuse(plan.reuse.guidanceEvery);
  const work = { passes: 0, flops: 0 };
  for (const [step, timestep] of timesteps.entries()) {
    if (skipped.has(step)) continue;
    const weights = branchWeights(plan.guidance, timestep, hasControls);
    const isReused = guidance.decide(step, weights) === 'reuse';
    for (const branch of branchNames.filter((name) => (isReused ? name === 'cond' : weights[name] !== 0))) {
      const text = branch === 'uncond' ? tokens.negativeText : tokens.text;
      work.passes++;
      work.flops += passFlops(plan, tokens, { text, withControls: branch !== 'no-control' }, config);
    }
  }
  return work;
}

function passFlops(
  { transfer }: Plan,
  { vision, controls, sound, action }: TokenCounts,
  { text, withControls }: { readonly text: number; readonly withControls: boolean },
  config: CostConfig,
): number {
  const target = vision + sound + action;
  const given = withControls ? controls : 0;
  const hints = withControls ? (transfer?.hints.length ?? 0) : 0;
  let pairs = (target + given) * (target + given + text);
  if (hints > 1 && transfer?.attention === 'weighted') pairs = hints * (target + vision) * (text + vision + target);
  return config.layers * (linearFlops(config) * (target + given) + pairFlops(config) * pairs);
}

/** Operations of a layer: of its matrices per row, and of its attention per query and key. */
export function layerFlops(config: CostConfig): { readonly linearFlops: number; readonly pairFlops: number } {
  return { linearFlops: linearFlops(config), pairFlops: pairFlops(config) };
}

/** Operations of a layer's matrices per token. */
function linearFlops({ hiddenSize, intermediateSize, heads, kvHeads, headDim, gatedMlp }: CostConfig): number {
  const attention = 2 * hiddenSize * heads * headDim + 2 * hiddenSize * kvHeads * headDim;
  return 2 * (attention + (gatedMlp ? 3 : 2) * hiddenSize * intermediateSize);
}

/** Operations of a layer's attention per query and key. */
function pairFlops({ heads, headDim }: CostConfig): number {
  return 4 * heads * headDim;
}

/** The causal text tower, once. */
function textFlops(tokens: number, config: CostConfig): number {
  return config.layers * (linearFlops(config) * tokens + (pairFlops(config) * tokens * tokens) / 2);
}

const floatBytes = 4;

/** Weights, text keys and values, one layer's activations, the solver's latents, a decode window and the frames as bytes. */
function memoryBytes(plan: Plan, tokens: TokenCounts, runFrames: number, config: CostConfig): number {
  const { headDim, elementBytes } = config;
  const sequence = tokens.vision + tokens.controls + tokens.sound + tokens.action;
  const latents = latentPoints(plan, runFrames, config) * config.latentChannels;
  // Sample, corrected, three of data, velocity and the one before, and the sums of a step on their way.
  const solver = 12 * latents;
  const rope = 2 * headDim * sequence;
  const denoise = elementBytes * sequence * layerElements(config) + floatBytes * (solver + rope);
  return Math.ceil(
    config.weightBytes + textBytes(tokens, config) + Math.max(denoise, decodeBytes(plan, runFrames, config)),
  );
}

/** Keys and values of the prompts, exactly. */
function textBytes(
  { text, negativeText }: TokenCounts,
  { layers, kvHeads, headDim, elementBytes }: CostConfig,
): number {
  return elementBytes * layers * 2 * kvHeads * headDim * (text + negativeText);
}

function latentPoints({ canvas }: Plan, runFrames: number, config: CostConfig): number {
  const frames = (runFrames - 1) / config.temporalCompression + 1;
  return ((canvas.width * canvas.height) / config.spatialCompression ** 2) * frames;
}

/** What lives at the end of a layer of the generation tower, per row: nothing of a layer is freed before it ends. */
export function layerElements({
  hiddenSize,
  intermediateSize,
  heads,
  kvHeads,
  headDim,
  gatedMlp,
}: Pick<CostConfig, 'hiddenSize' | 'intermediateSize' | 'heads' | 'kvHeads' | 'headDim' | 'gatedMlp'>): number {
  // The residual and its norm before, between and behind, and the two results that were added.
  const stream = 8 * hiddenSize;
  // The merged projection, queries and result; keys and values, and once more beside the text's.
  const attention = 3 * heads * headDim + 2 * kvHeads * headDim + 4 * kvHeads * headDim;
  const mlp = (gatedMlp ? 3 : 2) * intermediateSize;
  return stream + attention + mlp;
}

function decodeBytes(plan: Plan, runFrames: number, config: CostConfig): number {
  const { temporalCompression, tiling, elementBytes } = config;
  const latentFrames = (runFrames - 1) / temporalCompression + 1;
  const windowOf = (size: { readonly width: number; readonly height: number }) =>
    Math.min(latentFramesPerWindow(size, temporalCompression), Math.max(1, latentFrames - 1));
  const activations = (pixels: number, window: number) =>
    pixels *
    (latentFrames > 1
      ? config.vaeBytesPerPixel + (window - 1) * config.vaeBytesPerPixelMore
      : config.vaeBytesPerPixelStill);
  const rgb = 3 * plan.content.width * plan.content.height * plan.frames;
  const pixels = plan.canvas.width * plan.canvas.height;
  const tiles = tiling ? tiledPixels(plan.canvas, tiling, config.spatialCompression) : null;
  if (!tiling || tiles === null) return activations(pixels, windowOf(tiling ? tileSize(tiling) : plan.canvas)) + rgb;
  // Every tile of the whole clip is kept until the last one is done; then windows of all of them are put together.
  const window = windowOf(tileSize(tiling));
  const kept = 3 * elementBytes * tiles * runFrames;
  const blended = 3 * 3 * elementBytes * pixels * window * temporalCompression;
  return kept + Math.max(activations(tiling.size ** 2, window), blended) + rgb;
}

const tileSize = ({ size }: Tiling) => ({ width: size, height: size });
