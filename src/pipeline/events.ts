// What `generate` reports while it works. Frames leave as they are decoded, so that encoding overlaps decoding.
import type { Waveform } from '../media/index.js';
import type { Preview } from './preview/previewer.js';
import type { ComputedKind } from './request.js';

export type Phase = 'text' | 'encode' | 'denoise' | 'decode';

export type GenerationEvent =
  | { readonly type: 'phase'; readonly phase: Phase; readonly chunk: number; readonly chunks: number }
  /** Prompts that went through the text tower now, and those that had before. */
  | { readonly type: 'text'; readonly computed: number; readonly reused: number }
  /**
   * `step` counts finished steps, 1..steps, within the chunk. `skipped`: the velocity was held or extrapolated. `passes`: branches
   * that went through the network.
   */
  | {
      readonly type: 'step';
      readonly step: number;
      readonly steps: number;
      readonly chunk: number;
      readonly chunks: number;
      readonly skipped: boolean;
      readonly passes: number;
    }
  /** RGB bytes `[count, height, width, 3]` of the next frames of the result. */
  | {
      readonly type: 'frames';
      readonly data: Uint8Array;
      readonly count: number;
      readonly width: number;
      readonly height: number;
    }
  | Preview
  /** RGB bytes `[count, height, width, 3]` of the next frames of a control map that was made from the input clip. */
  | {
      readonly type: 'control';
      readonly kind: ComputedKind;
      readonly data: Uint8Array;
      readonly count: number;
      readonly width: number;
      readonly height: number;
    }
  | { readonly type: 'sound'; readonly waveform: Waveform }
  /** Predicted (or, for forward dynamics, given) actions `[rows][rawDim]`. */
  | { readonly type: 'actions'; readonly rows: readonly (readonly number[])[] }
  /** Final latents of one chunk, host float32: vision `[T, H, W, C]`, sound `[T, C]`, action `[T, dim]`. */
  | {
      readonly type: 'latents';
      readonly modality: 'vision' | 'sound' | 'action';
      readonly shape: readonly number[];
      readonly data: Float32Array;
      readonly chunk: number;
    };
