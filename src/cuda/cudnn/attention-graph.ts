// Attention as cuDNN's unified operation: O = softmax(Q K^T scale) V, grouped heads, keys beyond a length on the device masked.
import {
  cudnnBackendAttributeName as attribute,
  cudnnDataType,
  cudnnBackendDescriptorType as descriptor,
} from '../ffi/cudnn.js';
import type { GraphRecipe } from './execution-plan.js';

/** Sizes of one attention; rows of all heads lie together: `[rows, heads, d]`. */
export interface AttentionSizes {
  readonly rows: number;
  readonly keys: number;
  readonly heads: number;
  readonly groups: number;
  readonly d: number;
  /** Whether lengths of queries and keys come from the device. */
  readonly isPadded: boolean;
}

/** Operands of a run, in order: q, k, v, out, scale (float32, on the host), and where padded the int32 lengths of q and of k. */
export function attentionRecipe({ rows, keys, heads, groups, d, isPadded }: AttentionSizes): GraphRecipe {
  const bfloat16 = (uid: number, length: number, count: number) => ({
    uid,
    dtype: cudnnDataType.BFLOAT16,
    sizes: [1, count, length, d],
    strides: [length * count * d, d, count * d, 1],
  });
  const one = (uid: number, dtype: number) => ({ uid, dtype, sizes: [1, 1, 1, 1], strides: [1, 1, 1, 1] });
  return {
    key: `attention ${rows}x${keys} ${heads}/${groups} ${d} ${isPadded}`,
    uids: isPadded ? [1, 2, 3, 4, 5, 6, 7] : [1, 2, 3, 4, 5],
    build(dd) {
      const operation = dd.make(descriptor.OPERATION_SDPA_FWD);
      dd.link(operation, attribute.OPERATION_SDPA_FWD_QDESC, dd.tensor(bfloat16(1, rows, heads)));
      dd.link(operation, attribute.OPERATION_SDPA_FWD_KDESC, dd.tensor(bfloat16(2, keys, groups)));
      dd.link(operation, attribute.OPERATION_SDPA_FWD_VDESC, dd.tensor(bfloat16(3, keys, groups)));
      dd.link(operation, attribute.OPERATION_SDPA_FWD_ODESC, dd.tensor(bfloat16(4, rows, heads)));
      const scale = dd.tensor({ ...one(5, cudnnDataType.FLOAT), isByValue: true });
      dd.link(operation, attribute.OPERATION_SDPA_FWD_SCALEDESC, scale);
      if (isPadded) {
        dd.link(operation, attribute.OPERATION_SDPA_FWD_SEQ_LEN_QDESC, dd.tensor(one(6, cudnnDataType.INT32)));
        dd.link(operation, attribute.OPERATION_SDPA_FWD_SEQ_LEN_KVDESC, dd.tensor(one(7, cudnnDataType.INT32)));
      }
      return [dd.finalize(operation)];
    },
  };
}
