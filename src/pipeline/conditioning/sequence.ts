// The generation sequence: which items stand in it, where their rows lie on the three position axes, which rows are noisy.
// Source: spec, section 2 "Positions".

import type { AttentionRoute, Positions } from '../../models/cosmos3-transformer/index.js';
import { patchGrid, type TransformerConfig } from '../../models/cosmos3-transformer/index.js';

/** What the position of an item's rows depends on. */
export type ItemLayout =
  | { readonly kind: 'vision'; readonly shape: readonly number[]; readonly fps: number } // [T, H, W, C]
  | { readonly kind: 'sound'; readonly shape: readonly number[] } // [T, C]
  | { readonly kind: 'action'; readonly shape: readonly number[]; readonly fps: number; readonly offset: number }; // [T, dim]

/** Pixel frames per latent frame: the rate that vision and action positions are measured in. */
const TEMPORAL_COMPRESSION = 4;
/** Sound positions are measured in frames of this rate. */
const SOUND_BASE_FPS = 24;

/** Rows an item takes. */
export function itemRows(item: ItemLayout, patch: number): number {
  if (item.kind !== 'vision') return item.shape[0] ?? 0;
  const { frames, rows, columns } = patchGrid(item.shape, patch);
  return frames * rows * columns;
}

/** Time positions of an item's frames relative to its start, each step rounded to float32. */
function timeSteps(item: ItemLayout, config: TransformerConfig): Float32Array {
  const length = item.shape[0] ?? 0;
  const f = Math.fround;
  const base = f(config.baseFps / TEMPORAL_COMPRESSION);
  switch (item.kind) {
    case 'vision': {
      const modulated = length > 1 && config.fpsModulation;
      const rate = f(item.fps / TEMPORAL_COMPRESSION);
      return Float32Array.from({ length }, (_, i) => (modulated ? f(f(i / rate) * base) : i));
    }
    case 'sound':
      return Float32Array.from({ length }, (_, i) => f(f(i / (config.sound?.fps ?? 25)) * SOUND_BASE_FPS));
    case 'action':
      return Float32Array.from({ length }, (_, i) => f(f((i + item.offset) / item.fps) * base));
    default:
      return item satisfies never;
  }
}

export interface SequenceOptions {
  readonly textTokens: number;
  /** Every item starts at the same time; otherwise each vision item starts where the one before it ended. */
  readonly shareTemporalPositions: boolean;
}

/** Positions of all rows, items in order; every modality starts `modalityMargin` behind the text. */
export function sequencePositions(
  items: readonly ItemLayout[],
  config: TransformerConfig,
  { textTokens, shareTemporalPositions }: SequenceOptions,
): Positions {
  const total = items.reduce((sum, item) => sum + itemRows(item, config.patch), 0);
  const positions = { t: new Float32Array(total), h: new Float32Array(total), w: new Float32Array(total) };
  const origin = textTokens + config.modalityMargin;
  let visionStart = origin;
  let row = 0;
  for (const item of items) {
    const times = timeSteps(item, config);
    const start = item.kind === 'vision' ? visionStart : origin;
    const { rows, columns } = item.kind === 'vision' ? patchGrid(item.shape, config.patch) : { rows: 1, columns: 1 };
    for (const time of times)
      for (let h = 0; h < rows; h++)
        for (let w = 0; w < columns; w++, row++) {
          positions.t[row] = time + start;
          positions.h[row] = h;
          positions.w[row] = w;
        }
    if (item.kind === 'vision' && !shareTemporalPositions) visionStart = Math.floor(start + (times.at(-1) ?? 0)) + 1;
  }
  return positions;
}

/** 1 for each row of a noisy frame, 0 for a clean one. */
export function noisyRows(item: ItemLayout, patch: number, cleanFrames: readonly number[]): Float32Array {
  const frames = item.shape[0] ?? 0;
  const perFrame = frames === 0 ? 0 : itemRows(item, patch) / frames;
  const clean = new Set(cleanFrames);
  return Float32Array.from({ length: frames * perFrame }, (_, row) => (clean.has(Math.floor(row / perFrame)) ? 0 : 1));
}

/** Everything attends to everything. */
export function jointRoutes(rows: number): AttentionRoute[] {
  return [{ queries: [0, rows], keys: [[0, rows]], weight: 1 }];
}

/**
 * Each control sees the text, itself and the target; the target sees the text, itself and one control at a time, the
 * results mixed by the controls' weights (normalised to sum one).
 */
export function weightedRoutes(
  controlRows: readonly number[],
  totalRows: number,
  weights: readonly number[],
): AttentionRoute[] {
  const starts = controlRows.map((_, i) => controlRows.slice(0, i).reduce((sum, rows) => sum + rows, 0));
  const targetStart = controlRows.reduce((sum, rows) => sum + rows, 0);
  const target = [targetStart, totalRows] as const;
  const ranges = controlRows.map((rows, i) => [starts[i] ?? 0, (starts[i] ?? 0) + rows] as const);
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return [
    ...ranges.map((range) => ({ queries: range, keys: [range, target], weight: 1 })),
    ...ranges.map((range, i) => ({ queries: target, keys: [range, target], weight: (weights[i] ?? 0) / sum })),
  ];
}
