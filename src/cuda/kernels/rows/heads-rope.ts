// Launches `heads_rope`.
import type { Runtime } from '../../runtime/runtime.js';
import type { CudaTensor } from '../../runtime/tensor.js';
import { flatLaunch, typeNames, vectorWidth } from '../elementwise.js';
import type { KernelSource } from '../sources.js';

const headsRopeKernel: KernelSource = { file: 'rows/heads-rope', entry: 'heads_rope', signature: 'ppppppppiiiif' };

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

/** Warps that fill a large GPU several times over. */
const enoughWarps = 16_384;

/** The next power of two. */
const powerOver = (x: number) => 2 ** Math.ceil(Math.log2(x));

export function headsRopeInto(r: Runtime, { q, k, v, qkv, qNorm, kNorm, cos, sin, eps }: HeadsRope): void {
  const [rows = 0, heads = 1, d = 2] = q.shape;
  const groups = k.shape[1] ?? 1;
  if (rows === 0) return;
  const norms = [qNorm, kNorm].filter((norm) => norm !== null);
  const width = vectorWidth([q, k, v, qkv], [d / 2]);
  const lanes = Math.min(32, powerOver(Math.ceil(d / 2 / width)));
  const all = heads + 2 * groups;
  const together = 32 / lanes;
  // Few rows are shared by several warps each.
  const batch = lanes * width >= d / 2 ? 4 : 1;
  const parts = Math.min(Math.ceil(all / (together * batch)), Math.max(1, Math.floor(enoughWarps / rows)));
  const per = Math.ceil(Math.ceil(all / parts) / together) * together;
  const warps = rows * Math.ceil(all / per);
  r.run(
    headsRopeKernel,
    {
      TYPE: typeNames[q.dtype],
      NORM: typeNames[norms[0]?.dtype ?? 'f32'],
      TABLE: typeNames[cos.dtype],
      D: d,
      VEC: width,
      TVEC: Math.min(width, vectorWidth([cos, sin, ...norms], [d / 2])),
      LANES: lanes,
      BATCH: batch,
      PER: per,
    },
    {
      ...flatLaunch(warps * 32),
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
        Math.ceil(all / per),
        eps,
      ],
    },
  );
}
