// Attention of one tower: merged projections, head norms, rotary positions, and where its rows look. Source: spec, section 2.
import { type Backend, type KeySegment, type KvRows, type Rows, type Tensor, uploadFloats } from '../backend/index.js';
import type { WeightReader } from '../weights/index.js';
import {
  dense,
  type Linear,
  type LinearFormat,
  type LinearPart,
  linear,
  readLinear,
  readVector,
  widened,
} from './linear.js';
import type { RopeTables } from './rope.js';

export interface HeadLayout {
  readonly heads: number; // H
  readonly kvHeads: number; // G
  readonly headDim: number; // d
  readonly eps: number;
}

export interface AttentionWeights {
  readonly qkv: Linear; // [(H + 2G) d, D]
  readonly out: Linear; // [D, H d]
  readonly qNorm?: Tensor; // [d]
  readonly kNorm?: Tensor; // [d]
}

/** The names of one tower's projections and norms in a checkpoint. */
export interface AttentionNames {
  readonly qkv: readonly [string, string, string];
  readonly out: string;
  /** Query and key norms; absent where the tower has none. */
  readonly norms?: readonly [string, string];
}

export interface AttentionFormats {
  readonly qkv: LinearFormat;
  readonly out: LinearFormat;
}

export function readAttention(
  b: Backend,
  reader: WeightReader,
  names: AttentionNames,
  layout: HeadLayout & { readonly hidden: number },
  formats: AttentionFormats = { qkv: dense, out: dense },
): AttentionWeights {
  const { heads, kvHeads, headDim, hidden } = layout;
  const rows = [heads, kvHeads, kvHeads].map((count) => count * headDim);
  const parts = names.qkv.map((name, i): LinearPart => ({ name, rows: rows[i] ?? 0 }));
  const norms = names.norms && {
    qNorm: readVector(b, reader, `${names.norms[0]}.weight`, headDim),
    kNorm: readVector(b, reader, `${names.norms[1]}.weight`, headDim),
  };
  return {
    qkv: readLinear(b, reader, parts, hidden, formats.qkv),
    out: readLinear(b, reader, [{ name: names.out, rows: hidden }], heads * headDim, formats.out),
    ...norms,
  };
}

/** The same weights without quantised rows. */
export function widenedAttention(weights: AttentionWeights): AttentionWeights {
  return { ...weights, qkv: widened(weights.qkv), out: widened(weights.out) };
}

/** Keys and values of S rows, to be written by `projectHeads`. */
export function newKvRows(b: Backend, layout: HeadLayout, rows: number): KvRows {
  const shape = [rows, layout.kvHeads, layout.headDim];
  return { k: b.zeros(shape, b.activationDtype), v: b.zeros(shape, b.activationDtype) };
}

/** Projects `x [S, D]`; writes keys and values into `into`; returns the queries `[S, H, d]`. */
export function projectHeads(
  b: Backend,
  weights: AttentionWeights,
  layout: HeadLayout,
  rope: RopeTables,
  x: Rows,
  into: KvRows,
): Tensor {
  const norms = { ...(weights.qNorm && { qNorm: weights.qNorm }), ...(weights.kNorm && { kNorm: weights.kNorm }) };
  return b.headsRope(linear(b, weights.qkv, x), { ...layout, ...norms, ...rope }, into);
}

/** Rows `start..end` of the generation sequence. */
export type RowRange = readonly [start: number, end: number];

/**
 * Where some rows look: all of the text, and these ranges of the generation rows. Several routes with the same queries
 * are mixed by their weights, which sum to one.
 */
export interface AttentionRoute {
  readonly queries: RowRange;
  readonly keys: readonly RowRange[];
  readonly weight: number;
}

/** Routes with the same queries, and the device's copy of their mixing weights where there are several. */
export interface RouteGroup {
  readonly routes: readonly [AttentionRoute, ...AttentionRoute[]];
  readonly mixing?: { readonly coefficients: Tensor; readonly step: Tensor };
}

/** Groups routes by their queries, in order; done once, before the denoise loop. */
export function groupRoutes(b: Backend, routes: readonly AttentionRoute[]): RouteGroup[] {
  const groups = new Map<number, [AttentionRoute, ...AttentionRoute[]]>();
  for (const route of routes) {
    const group = groups.get(route.queries[0]);
    if (group) group.push(route);
    else groups.set(route.queries[0], [route]);
  }
  return [...groups.values()].map((group) => {
    if (group.length === 1) return { routes: group };
    const weights = Float32Array.from(group, (route) => route.weight);
    return {
      routes: group,
      mixing: { coefficients: uploadFloats(b, weights, [1, group.length]), step: b.zeros([1], 'i32') },
    };
  });
}

/** Attends along the routes, which cover the rows in order: `q [S, H, d]` to `[S, H d]`. */
export function attendRoutes(
  b: Backend,
  q: Tensor,
  own: KvRows,
  text: KeySegment,
  groups: readonly RouteGroup[],
): Tensor {
  const attend = ({ queries: [start, end], keys }: AttentionRoute) =>
    b.attention(b.slice(q, 0, start, end), [
      ...keys.map(([from, to]) => ({ k: b.slice(own.k, 0, from, to), v: b.slice(own.v, 0, from, to) })),
      text,
    ]); // [end - start, H, d]
  const blocks = groups.map(({ routes: [first, ...others], mixing }) => {
    const output = attend(first);
    if (mixing) b.linearCombination(output, { terms: [output, ...others.map(attend)], ...mixing });
    return output;
  });
  const [block, ...more] = blocks;
  const all = block && more.length === 0 ? block : b.concat(blocks, 0); // [S, H, d]
  return b.view(all, [all.shape[0] ?? 0, (all.shape[1] ?? 0) * (all.shape[2] ?? 0)]); // [S, H d]
}
