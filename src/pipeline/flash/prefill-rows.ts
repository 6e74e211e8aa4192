// The text tower on rows and rotary tables that are given, where a prompt's token ids and positions are not known.
import { type Backend, type Tensor, uploadFloats } from '../../backend/index.js';
import { type KvCache, prefill, type RopeTables, type Transformer } from '../../models/cosmos3-transformer/index.js';

/**
 * Keys and values of a prompt whose embedded rows are `rows [L, D]`, in order.
 * @param rope `[L, d]`, float32
 */
export function prefillRows(
  b: Backend,
  transformer: Transformer,
  { rows, hidden, rope }: { readonly rows: Float32Array; readonly hidden: number; readonly rope: RopeTables },
): KvCache {
  const length = rows.length / hidden;
  const bytes = new Uint8Array(rows.buffer, rows.byteOffset, rows.byteLength);
  // The rows are an embedding table of their own, from which the prompt takes each once.
  const table = b.weight([{ shape: [length, hidden], dtype: 'f32', bytes }], 'table');
  try {
    const ids = Int32Array.from({ length }, (_, i) => i);
    return prefill(withRope(b, rope), { ...transformer, embedTokens: table }, ids);
  } finally {
    table[Symbol.dispose]();
  }
}

/** The same device, rotating by these tables whatever it is told. */
function withRope(b: Backend, { cos, sin }: RopeTables): Backend {
  const headsRope: Backend['headsRope'] = (qkv, options, into) => b.headsRope(qkv, { ...options, cos, sin }, into);
  return new Proxy(b, {
    get(device, name) {
      if (name === 'headsRope') return headsRope;
      const member: unknown = Reflect.get(device, name);
      return typeof member === 'function' ? member.bind(device) : member;
    },
  });
}

/** Uploads tables. */
export function uploadRope(
  b: Backend,
  { cos, sin }: Readonly<Record<'cos' | 'sin', { readonly shape: readonly number[]; readonly values: Float32Array }>>,
): { readonly cos: Tensor; readonly sin: Tensor } {
  return { cos: uploadFloats(b, cos.values, cos.shape), sin: uploadFloats(b, sin.values, sin.shape) };
}
