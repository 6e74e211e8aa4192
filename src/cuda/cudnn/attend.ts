// Attention by cuDNN where it serves: bfloat16, no causal mask, work enough that planning it pays.
import type { AttentionOperands, SegmentOperand } from '../kernels/products/attention.js';
import { joinKeys } from '../kernels/products/join-keys.js';
import type { Runtime } from '../runtime/runtime.js';
import { attentionRecipe } from './attention-graph.js';
import { describeAttention } from './kernel-choices.js';

/** Wider heads run on an engine that products and a softmax between outrun. */
const widestHead = 256;

/** Segments in the order in which cuDNN reads them, null where it cannot: a padded one must lie behind all others. */
function inOrder(segments: readonly SegmentOperand[]): readonly SegmentOperand[] | null {
  const [first] = segments;
  const padded = segments.filter(({ length }) => length !== 0);
  if (padded.length > 1 || segments.some(({ groups }) => groups !== first?.groups)) return null;
  return [...segments.filter(({ length }) => length === 0), ...padded];
}

/**
 * Attends by cuDNN.
 * @returns its name and engine, or null where it does not serve these operands: nothing was enqueued then.
 * @throws CudaError when a plan that cuDNN made does not run.
 */
export function attendByCudnn(r: Runtime, operands: AttentionOperands): string | null {
  const { out, q, rows, heads, d, segments, causal, scale } = operands;
  const keys = segments.reduce((sum, segment) => sum + segment.rows, 0);
  if (causal || d % 8 !== 0 || d > widestHead || !r.cudnn.isWorth(rows * keys * heads * d)) return null;
  const ordered = inOrder(segments);
  const first = ordered?.[0];
  if (!ordered || !first) return null;
  if ([q, out, ...segments.flatMap(({ k, v }) => [k, v])].some((address) => address % 16 !== 0)) return null;
  const isPadded = ordered.at(-1)?.length !== 0;
  const recipe = attentionRecipe({ rows, keys, heads, groups: first.groups, d, isPadded });
  const plan = r.cudnn.planFor(recipe);
  if (!plan) {
    r.choices.note('attention', `${describeAttention(operands)} by cuDNN`, r.cudnn.reasonAgainst(recipe));
    return null;
  }
  r.tensors.run(() => {
    const workspace = r.tensors.make([plan.workspaceBytes], 'u8').address;
    const rowBytes = first.groups * d * 2;
    let joined: { readonly k: number; readonly v: number; readonly lengths: number } = { ...first, lengths: 0 };
    if (isPadded || !areAdjacent(ordered, rowBytes)) {
      const buffer = () => r.tensors.make([keys, first.groups, d], 'bf16').address;
      joined = { k: buffer(), v: buffer(), lengths: r.tensors.make([2], 'i32').address };
      joinKeys(r, { ...joined, segments: ordered, rowBytes, queries: rows });
    }
    const lengths = isPadded ? [joined.lengths, joined.lengths + 4] : [];
    r.cudnn.run(plan, [q, joined.k, joined.v, out, plan.hostNumber(scale), ...lengths], workspace);
    return null;
  });
  return `${r.cudnn.name} engine ${plan.engine}`;
}

/** Whether keys and values each lie in one piece already. */
function areAdjacent(segments: readonly SegmentOperand[], rowBytes: number): boolean {
  return segments.every(({ k, v }, i) => {
    const before = segments[i - 1];
    if (!before) return true;
    const bytes = before.rows * rowBytes;
    return k === before.k + bytes && v === before.v + bytes;
  });
}
