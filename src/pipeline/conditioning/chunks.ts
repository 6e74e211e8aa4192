// How a plan is cut into runs of the denoise loop: one, or overlapping chunks of a transfer. Source: api spec, 3.2 "Lengths".
import { mirrorIndexes } from '../../media/index.js';
import type { Plan } from '../plan-types.js';

export interface Chunk {
  readonly index: number;
  /** First frame of the chunk in the result's time. */
  readonly start: number;
  /** Frames the networks make: 4n + 1. */
  readonly frames: number;
  /** Frames at the front that repeat the end of the chunk before; they are given and dropped from the output. */
  readonly overlap: number;
  /** Frames of the result that this chunk adds. */
  readonly adds: number;
}

/** Frames that whole latent frames decode to: 4n + 1 and at least as many as asked. */
export function wholeFrames(frames: number, temporalFactor: number): number {
  return Math.ceil((frames - 1) / temporalFactor) * temporalFactor + 1;
}

export function planChunks(plan: Plan, temporalFactor: number): Chunk[] {
  const { transfer } = plan;
  if (!transfer) {
    const frames = wholeFrames(plan.frames, temporalFactor);
    return [{ index: 0, start: 0, frames, overlap: 0, adds: plan.frames }];
  }
  const { chunkFrames, conditionalFrames, totalFrames } = transfer;
  const chunks: Chunk[] = [];
  for (let made = 0; made < totalFrames; ) {
    const overlap = made === 0 ? 0 : conditionalFrames;
    const adds = Math.min(chunkFrames - overlap, totalFrames - made);
    chunks.push({ index: chunks.length, start: made - overlap, frames: chunkFrames, overlap, adds });
    made += adds;
  }
  return chunks;
}

/** Source frame for each frame of a chunk; beyond its end a source is extended by its own reversal. */
export function chunkFrameIndexes(chunk: Pick<Chunk, 'start' | 'frames'>, sourceFrames: number): number[] {
  return mirrorIndexes(sourceFrames, chunk.start + chunk.frames).slice(chunk.start);
}
