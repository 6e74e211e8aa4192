// Rotary position tables over three axes (time, height, width), interleaved by frequency. Source: spec, section 2 "Positions".
import { type Backend, type Tensor, uploadFloats } from '../backend/index.js';

/** Positions of S rows on each axis, float32 (they lie near 15 000, where bfloat16 fails). */
export interface Positions {
  readonly t: Float32Array; // [S]
  readonly h: Float32Array; // [S]
  readonly w: Float32Array; // [S]
}

export interface RopeOptions {
  readonly headDim: number;
  readonly theta: number;
  /** Frequencies given to each axis (time, height, width); height and width take every third one first. */
  readonly axes: readonly [number, number, number];
}

/** Rows of the rotary table, `[S, d]` each, float32; both halves of a row are equal. */
export interface RopeTables {
  readonly cos: Tensor;
  readonly sin: Tensor;
}

function axisOf(frequency: number, [, height, width]: RopeOptions['axes']): keyof Positions {
  if (frequency % 3 === 1 && frequency < 3 * height) return 'h';
  if (frequency % 3 === 2 && frequency < 3 * width) return 'w';
  return 't';
}

/** Angle j of a row is `position * theta^(-2j/d)`, in float32 as the networks were trained. */
export function ropeTables(b: Backend, positions: Positions, options: RopeOptions): RopeTables {
  const rows = positions.t.length;
  const d = options.headDim;
  const half = d / 2;
  const cos = new Float32Array(rows * d);
  const sin = new Float32Array(rows * d);
  for (let j = 0; j < half; j++) {
    const frequency = Math.fround(1 / Math.fround(options.theta ** Math.fround((2 * j) / d)));
    const axis = positions[axisOf(j, options.axes)];
    for (let row = 0; row < rows; row++) {
      const angle = Math.fround((axis[row] as number) * frequency);
      const at = row * d + j;
      cos[at] = Math.cos(angle);
      sin[at] = Math.sin(angle);
      cos[at + half] = cos[at] as number;
      sin[at + half] = sin[at] as number;
    }
  }
  return { cos: uploadFloats(b, cos, [rows, d]), sin: uploadFloats(b, sin, [rows, d]) };
}
