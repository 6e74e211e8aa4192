// The generation tower: vision, sound and action rows, full attention over the text's keys and their own.
// One call is one denoise step, of one branch or of several at once. Source: spec, section 2.
import {
  type Backend,
  disposeTensors,
  isQuantized,
  type KvRows,
  type NormedSum,
  type Rows,
  type Tensor,
} from '../../backend/index.js';
import { attendRoutes, newKvRows, projectHeads, type RouteGroup } from '../../nn/attention.js';
import { linear } from '../../nn/linear.js';
import { mlp } from '../../nn/mlp.js';
import { addNormRows, type NormBefore, normRows } from '../../nn/residual.js';
import type { RopeTables } from '../../nn/rope.js';
import { patchGrid, patchify, unpatchify } from './patches.js';
import type { KvCache } from './text-tower.js';
import type { ActionProjection, TowerLayer, Transformer } from './weights.js';

/** One item of the generation sequence. `noisy` holds 1 for rows that carry the timestep, 0 for clean ones. */
export type GenSegment =
  | { readonly kind: 'vision'; readonly latents: Tensor; readonly noisy: Tensor; readonly predicted: boolean } // [T, H, W, C]
  | { readonly kind: 'sound'; readonly latents: Tensor; readonly noisy: Tensor; readonly predicted: boolean } // [T, C]
  | {
      readonly kind: 'action';
      readonly latents: Tensor; // [T, dim]
      readonly noisy: Tensor;
      readonly predicted: boolean;
      readonly projection: ActionProjection;
    };

/** What stays the same in all steps of one branch. */
export interface GenContext {
  readonly text: KvCache;
  readonly rope: RopeTables; // [S, d], all segments in order
  readonly routes: readonly RouteGroup[];
}

/** Rows a segment takes in the sequence. */
export function segmentRows(segment: Pick<GenSegment, 'kind' | 'latents'>, patch: number): number {
  if (segment.kind !== 'vision') return segment.latents.shape[0] ?? 0;
  const { frames, rows, columns } = patchGrid(segment.latents.shape, patch);
  return frames * rows * columns;
}

/** What differs between steps beside the timestep. */
export interface StepOptions {
  /** Runs without quantised rows; see `planWideSteps`. */
  readonly wide?: boolean;
}

/** One branch of a step: the rows that it predicts from, and what they see. */
export interface GenPass {
  readonly segments: readonly GenSegment[];
  readonly context: GenContext;
}

/**
 * Velocities of the segments that are predicted, in order, each in its latents' shape, float32.
 * @param timestepRow `[1, D]`, the embedded timestep of this step
 */
export function predictVelocity(
  b: Backend,
  transformer: Transformer,
  segments: readonly GenSegment[],
  context: GenContext,
  timestepRow: Tensor,
  options: StepOptions = {},
): Tensor[] {
  return predictVelocities(b, transformer, [{ segments, context }], timestepRow, options)[0] ?? [];
}

/**
 * The same for several branches at once: their rows go through the products together, and each attends to its own text and rows.
 * @returns by branch
 */
export function predictVelocities(
  b: Backend,
  transformer: Transformer,
  passes: readonly GenPass[],
  timestepRow: Tensor,
  { wide = false }: StepOptions = {},
): Tensor[][] {
  const { config, wideLayers, genNorm } = transformer;
  return b.scope(() => {
    const layers = wide ? wideLayers : transformer.layers.map(({ gen }) => gen);
    const x = joinRows(
      b,
      passes.map(({ segments }) => embedSegments(b, transformer, segments, timestepRow)),
    ); // [S, D], S over all branches
    const spans = spansOf(passes, config.patch);
    const rope = joinRopes(
      b,
      passes.map(({ context }) => context.rope),
    );
    const own = newKvRows(b, config, x.shape[0] ?? 0);
    const before = (layer: TowerLayer | undefined): NormBefore =>
      layer
        ? { weight: layer.inputNorm, eps: config.eps, reader: layer.attention.qkv }
        : { weight: genNorm, eps: config.eps, reader: null };
    let rows: NormedSum<Rows> = { sum: x, normed: normRows(b, x, before(layers[0])) }; // [S, D] each
    for (const [i, layer] of layers.entries()) {
      layer.group?.enter(layers[i + 1]?.group);
      const attend = (q: Tensor) =>
        joinRows(
          b,
          passes.map(({ context: { text, routes } }, p) => {
            const seen = text.layers[i];
            if (!seen) throw new Error(`the text cache has ${text.layers.length} layers, layer ${i} was asked`);
            const [start, end] = spans[p] as RowSpan;
            const of = (rowsOf: Tensor) => b.slice(rowsOf, 0, start, end);
            return attendRoutes(b, of(q), { k: of(own.k), v: of(own.v) }, seen, routes);
          }),
        );
      const next = before(layers[i + 1]);
      const behind = b.scope(() => genLayer(b, transformer, { layer, next, rope, own, attend }, rows));
      // At 44 160 rows a layer's residual takes 0.7 GB: it goes before the next one's comes.
      disposeTensors([rows.sum, rows.normed]);
      rows = behind;
    }
    const last = rows.normed;
    if (isQuantized(last)) throw new Error('the last norm is read by plain layers');
    return passes.map(({ segments }, p) =>
      predictSegments(b, transformer, segments, b.slice(last, 0, ...(spans[p] as RowSpan))),
    );
  });
}

/** What the first layer reads of a branch: its rows with their timestep, normed, not quantised. `[S, D]` */
export function firstLayerInput(
  b: Backend,
  transformer: Transformer,
  segments: readonly GenSegment[],
  timestepRow: Tensor,
): Tensor {
  const [layer] = transformer.layers;
  if (!layer) throw new Error('a transformer without layers');
  const { eps } = transformer.config;
  return b.scope(() => b.rmsNorm(embedSegments(b, transformer, segments, timestepRow), layer.gen.inputNorm, { eps }));
}

type RowSpan = readonly [start: number, end: number];

/** Where the rows of each branch lie. */
function spansOf(passes: readonly GenPass[], patch: number): RowSpan[] {
  let end = 0;
  return passes.map(({ segments }) => {
    const start = end;
    for (const segment of segments) end += segmentRows(segment, patch);
    return [start, end];
  });
}

function joinRows(b: Backend, parts: readonly Tensor[]): Tensor {
  const [first] = parts;
  return first && parts.length === 1 ? first : b.concat(parts, 0);
}

function joinRopes(b: Backend, ropes: readonly RopeTables[]): RopeTables {
  const join = (table: keyof RopeTables) =>
    joinRows(
      b,
      ropes.map((rope) => rope[table]),
    );
  return { cos: join('cos'), sin: join('sin') };
}

interface GenLayer {
  readonly layer: TowerLayer;
  /** The norm behind the layer: the next one's first, or the tower's last. */
  readonly next: NormBefore;
  readonly rope: RopeTables;
  readonly own: KvRows;
  readonly attend: (q: Tensor) => Tensor; // [S, H, d] -> [S, H d]
}

/** One layer, from the residual stream and its norm to both behind it. */
function genLayer(
  b: Backend,
  { config }: Transformer,
  { layer, next, rope, own, attend }: GenLayer,
  { sum: x, normed }: NormedSum<Rows>,
): NormedSum<Rows> {
  const { attention, postNorm, mlp: block } = layer;
  const q = projectHeads(b, attention, config, rope, normed, own); // [S, H, d]
  const attended = linear(b, attention.out, attend(q)); // [S, D]
  const middle = addNormRows(b, x, attended, { weight: postNorm, eps: config.eps, reader: block.up }); // [S, D] each
  return addNormRows(b, middle.sum, mlp(b, block, middle.normed), next);
}

function embedSegments(
  b: Backend,
  transformer: Transformer,
  segments: readonly GenSegment[],
  timestepRow: Tensor,
): Tensor {
  return joinRows(
    b,
    segments.map((segment) => embedSegment(b, transformer, segment, timestepRow)),
  );
}

function embedSegment(b: Backend, transformer: Transformer, segment: GenSegment, timestepRow: Tensor): Tensor {
  const narrow = (x: Tensor) => b.cast(x, b.activationDtype);
  const timed = (x: Tensor) => b.addRows(x, narrow(timestepRow), segment.noisy);
  switch (segment.kind) {
    case 'vision': {
      const tokens = narrow(patchify(b, segment.latents, transformer.config.patch)); // [S_i, p p C]
      return timed(linear(b, transformer.visionInput, tokens));
    }
    case 'sound': {
      const head = need(transformer.sound, 'sound');
      return timed(b.add(linear(b, head.input, narrow(segment.latents)), narrow(head.modality)));
    }
    case 'action': {
      const head = need(transformer.action, 'action');
      return timed(b.add(linear(b, segment.projection.input, narrow(segment.latents)), narrow(head.modality)));
    }
    default:
      return segment satisfies never;
  }
}

function predictSegments(b: Backend, transformer: Transformer, segments: readonly GenSegment[], x: Tensor): Tensor[] {
  const velocities: Tensor[] = [];
  let start = 0;
  for (const segment of segments) {
    const end = start + segmentRows(segment, transformer.config.patch);
    if (segment.predicted) velocities.push(b.cast(predict(b, transformer, segment, b.slice(x, 0, start, end)), 'f32'));
    start = end;
  }
  return velocities;
}

function predict(b: Backend, transformer: Transformer, segment: GenSegment, rows: Tensor): Tensor {
  switch (segment.kind) {
    case 'vision':
      return unpatchify(b, linear(b, transformer.visionOutput, rows), segment.latents.shape, transformer.config.patch);
    case 'sound':
      return linear(b, need(transformer.sound, 'sound').output, rows); // [T, C]
    case 'action':
      return linear(b, segment.projection.output, rows); // [T, dim]
    default:
      return segment satisfies never;
  }
}

function need<T>(head: T | null, what: string): T {
  if (head === null) throw new Error(`this checkpoint has no ${what} head`);
  return head;
}
