// Spatial tiles: a clip decoded piece by piece, the pieces blended linearly where they overlap. Source: spec, section 5.
import { type Backend, type Tensor, uploadFloats } from '../../backend/index.js';

/** Tiles in pixels. Both are multiples of the spatial factor, and `size` lies between `stride` and twice that. */
export interface Tiling {
  readonly size: number;
  readonly stride: number;
}

/**
 * 1280x720 is 6 tiles of together 1.15 times its pixels, the largest 28 % of it. The reference's 256 at stride 192 are 28 tiles of
 * 1.65 times the pixels.
 */
export const defaultTiling: Tiling = { size: 512, stride: 464 };

/** One tile's place along an axis, in latents. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Spans that cover `length` latents. All but the last are full; neighbours overlap by `size - stride`. */
export function tileSpans(length: number, { size, stride }: Tiling, factor: number): Span[] {
  if (![size, stride].every((n) => n > 0 && n % factor === 0) || size < stride || size > 2 * stride)
    throw new RangeError(
      `tiles of ${size} pixels at stride ${stride}; both must be multiples of ${factor}, and the size between stride and twice the stride, as ${defaultTiling.size} at ${defaultTiling.stride} is`,
    );
  const spans: Span[] = [];
  for (let start = 0; spans.length === 0 || (spans.at(-1)?.end ?? 0) < length; start += stride / factor)
    spans.push({ start, end: Math.min(start + size / factor, length) });
  return spans;
}

/** Pixels of all tiles of a picture together, overlaps counted twice; null where one tile holds it and nothing is tiled. */
export function tiledPixels(
  { width, height }: { readonly width: number; readonly height: number },
  tiling: Tiling,
  factor: number,
): number | null {
  const [rows, columns] = [height, width].map((pixels) => tileSpans(Math.ceil(pixels / factor), tiling, factor));
  if (rows?.length === 1 && columns?.length === 1) return null;
  const length = (spans: readonly Span[] = []) => spans.reduce((sum, { start, end }) => sum + end - start, 0) * factor;
  return length(rows) * length(columns);
}

/**
 * Puts tiles `[rows][columns]` of `[F, h, w, C]` together, neighbours overlapping by `overlap` pixels. Along an overlap the
 * earlier tile's share falls from one by equal steps, and the later one's rises from zero.
 */
export function blendTiles(b: Backend, tiles: readonly (readonly Tensor[])[], overlap: number): Tensor {
  return b.scope(() => {
    const rows = tiles.map((row) => blend(b, row, 2, overlap)); // [F, h, W, C]
    return blend(b, rows, 1, overlap); // [F, H, W, C]
  });
}

function blend(b: Backend, parts: readonly Tensor[], axis: 1 | 2, overlap: number): Tensor {
  const first = parts[0];
  if (first && parts.length === 1) return first;
  const shares = first && overlap > 0 ? rampPair(b, first, axis, overlap) : null;
  const pieces = parts.flatMap((part, i) => {
    const length = part.shape[axis] ?? 0;
    const core = b.slice(part, axis, i === 0 ? 0 : overlap, i === parts.length - 1 ? length : length - overlap);
    const before = parts[i - 1];
    if (!before || !shares) return [core];
    const end = before.shape[axis] ?? 0;
    const leaving = b.multiply(b.slice(before, axis, end - overlap, end), shares.falling);
    return [b.add(leaving, b.multiply(b.slice(part, axis, 0, overlap), shares.rising)), core];
  });
  return b.concat(pieces, axis);
}

/** The two tiles' shares along `axis` of an overlap, spread over the axes behind it: `[overlap, …, C]`. */
function rampPair(b: Backend, like: Tensor, axis: 1 | 2, overlap: number) {
  const shape = [overlap, ...like.shape.slice(axis + 1)];
  const inner = shape.slice(1).reduce((product, size) => product * size, 1);
  const rising = Float32Array.from({ length: overlap * inner }, (_, i) => Math.floor(i / inner) / overlap);
  const upload = (values: Float32Array) => b.cast(uploadFloats(b, values, shape), like.dtype);
  return { rising: upload(rising), falling: upload(rising.map((share) => 1 - share)) };
}
