// Launches `heads_rope`.
import type { Runtime } from '../../runtime/runtime.js';
import type { CudaTensor } from '../../runtime/tensor.js';
import { flatLaunch, typeNames, vectorWidth } from '../elementwise.js';
import type { KernelSource } from '../sources.js';

const headsRopeKernel: KernelSource = { file: 'rows/heads-rope', entry: 'heads_rope', signature: 'ppppppppiiif' };

export interface HeadsRope {
  readonly q: CudaTensor; // [S, H, d], written
  readonly k: CudaTensor; // [S, G, d], written
  readonly v: CudaTensor; // [S, G, d], written
  readonly qkv: CudaTensor; // [S, (H + 2G) d]
  /** Both of one dtype where both are there. */
  readonly qNorm: CudaTensor | null; // [d]
  readonly kNorm: CudaTensor | null; // [d]
  readonly cos: CudaTensor; // [S, d]
  readonly sin: CudaTensor; // [S, d]
  readonly eps: number;
}

export function headsRopeInto(r: Runtime, { q, k, v, qkv, qNorm, kNorm, cos, sin, eps }: HeadsRope): void {
  const [rows = 0, heads = 1, d = 2] = q.shape;
  const groups = k.shape[1] ?? 1;
  if (rows === 0) return;
  const norms = [qNorm, kNorm].filter((norm) => norm !== null);
  const width = vectorWidth([q, k, v, qkv, cos, sin, ...norms], [d / 2]);
  // No wider than keeps every lane of a warp at work.
  const spread = Math.max(1, 2 ** Math.floor(Math.log2(d / 2 / 32)));
  r.run(
    headsRopeKernel,
    {
      TYPE: typeNames[q.dtype],
      NORM: typeNames[norms[0]?.dtype ?? 'f32'],
      TABLE: typeNames[cos.dtype],
      D: d,
      VEC: Math.min(width, spread),
    },
    {
      ...flatLaunch(rows * (heads + 2 * groups) * 32),
      args: [
        q.address,
        k.address,
        v.address,
        qkv.address,
        qNorm?.address ?? 0,
        kNorm?.address ?? 0,
        cos.address,
        sin.address,
        rows,
        heads,
        groups,
        eps,
      ],
    },
  );
}
