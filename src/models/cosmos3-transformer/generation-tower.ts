// The generation tower: vision, sound and action rows, full attention over the text's keys and their own.
// One call is one denoise step of one branch. Source: spec, section 2.
import type { Backend, KvRows, Tensor } from '../../backend/index.js';
import { attendRoutes, newKvRows, projectHeads, type RouteGroup } from '../../nn/attention.js';
import { linear } from '../../nn/linear.js';
import { mlp } from '../../nn/mlp.js';
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
): Tensor[] {
  const { config } = transformer;
  return b.scope(() => {
    const embedded = segments.map((segment) => embedSegment(b, transformer, segment, timestepRow)); // [S_i, D]
    let x = embedded.length === 1 && embedded[0] ? embedded[0] : b.concat(embedded, 0); // [S, D]
    const own = newKvRows(b, config, x.shape[0] ?? 0);
    for (const [i, layer] of transformer.layers.entries())
      x = b.scope(() => genLayer(b, transformer, layer.gen, i, context, x, own));
    const normed = b.rmsNorm(x, transformer.genNorm, { eps: config.eps }); // [S, D]
    return predictSegments(b, transformer, segments, normed);
  });
}

function genLayer(
  b: Backend,
  { config }: Transformer,
  layer: TowerLayer,
  index: number,
  context: GenContext,
  x: Tensor,
  own: KvRows,
): Tensor {
  const text = context.text.layers[index];
  if (!text) throw new Error(`the text cache has ${context.text.layers.length} layers, layer ${index} was asked`);
  const normed = b.rmsNorm(x, layer.inputNorm, { eps: config.eps }); // [S, D]
  const q = projectHeads(b, layer.attention, config, context.rope, normed, own); // [S, H, d]
  const y = b.add(x, linear(b, layer.attention.out, attendRoutes(b, q, own, text, context.routes))); // [S, D]
  return b.add(y, mlp(b, layer.mlp, b.rmsNorm(y, layer.postNorm, { eps: config.eps }))); // [S, D]
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
