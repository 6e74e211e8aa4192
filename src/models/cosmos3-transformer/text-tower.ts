// The understanding tower: text rows, causal. It never sees the timestep or a generated row, so its keys and values are
// computed once per prompt and kept. Source: spec, section 2.
import type { Backend, KeySegment, KvRows, Tensor } from '../../backend/index.js';
import { newKvRows, projectHeads } from '../../nn/attention.js';
import { linear } from '../../nn/linear.js';
import { mlp } from '../../nn/mlp.js';
import { addNormRows, normRows } from '../../nn/residual.js';
import { type RopeTables, ropeTables } from '../../nn/rope.js';
import type { TransformerConfig } from './config.js';
import type { Layer, Transformer } from './weights.js';

/** Keys and values of one prompt in every layer, as generation rows see them. */
export interface KvCache {
  readonly textTokens: number; // L
  readonly layers: readonly KeySegment[]; // k, v: [L, G, d]
}

/** Runs the prompt's token ids through the text tower. The last layer gives only its keys and values. */
export function prefill(b: Backend, transformer: Transformer, ids: Int32Array): KvCache {
  const { headDim, ropeTheta: theta, ropeAxes: axes } = transformer.config;
  const { length } = ids;
  const line = Float32Array.from({ length }, (_, i) => i);
  const layers = b.scope(() => {
    const bytes = new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength);
    const rows = b.embed(transformer.embedTokens, b.upload({ shape: [length], dtype: 'i32', bytes })); // [L, D]
    const rope = ropeTables(b, { t: line, h: line, w: line }, { headDim, theta, axes });
    return prefillRows(b, transformer, rows, rope).layers.map(({ k, v }) => ({ k, v }));
  });
  return { textTokens: length, layers };
}

/**
 * The same from embedded rows and rotary tables, where a prompt's ids and positions are not known.
 * @param rows `[L, D]`, in the activation dtype
 */
export function prefillRows(b: Backend, transformer: Transformer, rows: Tensor, rope: RopeTables): KvCache {
  const { config, layers } = transformer;
  const kept = b.scope(() => {
    const segments: KvRows[] = [];
    let x = rows; // [L, D]
    for (const [i, layer] of layers.entries()) {
      const last = i === layers.length - 1;
      layer.und.group?.enter(layers[i + 1]?.und.group);
      const { next, seen } = b.scope(() => undLayer(b, layer, config, rope, x, last));
      segments.push(seen);
      if (x !== rows) x[Symbol.dispose]();
      if (next) x = next;
    }
    return segments.map(({ k, v }) => ({ k, v }));
  });
  // Room for what comes next; the layers' copies in host memory stay.
  transformer.offload?.release();
  return { textTokens: rows.shape[0] ?? 0, layers: kept };
}

function undLayer(b: Backend, layer: Layer, config: TransformerConfig, rope: RopeTables, x: Tensor, last: boolean) {
  const { und, textKeyNorm } = layer;
  const rows = x.shape[0] ?? 0;
  const own = newKvRows(b, config, rows);
  const { eps } = config;
  const normed = normRows(b, x, { weight: und.inputNorm, eps, reader: und.attention.qkv }); // [L, D]
  const q = projectHeads(b, und.attention, config, rope, normed, own); // [L, H, d]
  const seen = textKeyNorm ? { k: newKvRows(b, config, rows).k, v: own.v } : own;
  if (textKeyNorm)
    projectHeads(b, { ...und.attention, kNorm: textKeyNorm }, config, rope, normed, {
      k: seen.k,
      v: b.zeros(own.v.shape, own.v.dtype),
    });
  if (last) return { seen: { k: seen.k, v: seen.v }, next: null };
  const attended = b.attention(q, [own], { causal: true }); // [L, H, d]
  const projected = linear(b, und.attention.out, b.view(attended, [rows, config.heads * config.headDim])); // [L, D]
  const middle = addNormRows(b, x, projected, { weight: und.postNorm, eps, reader: und.mlp.up }); // [L, D] each
  const next = b.add(middle.sum, mlp(b, und.mlp, middle.normed)); // [L, D]
  return { seen: { k: seen.k, v: seen.v }, next };
}
