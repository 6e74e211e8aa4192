// The result's frames: overlap dropped, cut to length, with input and control panels beside them where the plan shows them.
import type { Chunk } from '../conditioning/chunks.js';

/** Decoded frames of a chunk by their place in it. */
export interface PlacedFrames {
  readonly first: number;
  readonly count: number;
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** The part of some decoded frames that belongs to the result, panels joined along the width; null where nothing does. */
export function resultFrames(chunk: Chunk, frames: PlacedFrames, panels: readonly Uint8Array[]): PlacedFrames | null {
  const from = Math.max(frames.first, chunk.overlap);
  const to = Math.min(frames.first + frames.count, chunk.overlap + chunk.adds);
  if (from >= to) return null;
  const size = frames.width * frames.height * 3;
  const generated = frames.data.subarray((from - frames.first) * size, (to - frames.first) * size);
  const shown = panels.map((panel) => panel.subarray(from * size, to * size));
  const data = shown.length === 0 ? generated : joinColumns([...shown, generated], frames.width * 3);
  return { first: from, count: to - from, width: frames.width * (shown.length + 1), height: frames.height, data };
}

function joinColumns(panels: readonly Uint8Array[], rowBytes: number): Uint8Array {
  const rows = (panels[0]?.length ?? 0) / rowBytes;
  const out = new Uint8Array(rows * rowBytes * panels.length);
  for (let row = 0; row < rows; row++)
    for (const [i, panel] of panels.entries())
      out.set(panel.subarray(row * rowBytes, (row + 1) * rowBytes), (row * panels.length + i) * rowBytes);
  return out;
}
