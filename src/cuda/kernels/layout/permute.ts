// Launches `permute`, after axes that stay together were joined.
import { dtypeBytes } from '../../../backend/index.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { CudaTensor } from '../../runtime/tensor.js';
import { flatLaunch, indexName, unitName, widestUnit } from '../elementwise.js';
import type { KernelSource } from '../sources.js';

const permuteKernel: KernelSource = { file: 'layout/permute', entry: 'permute', signature: 'ppis' };
const mostAxes = 8;

interface Axis {
  size: number;
  stride: number;
}

/** The result's axes, outermost first, with strides into the source in units; `unit` bytes move at once. */
export interface PermutePlan {
  readonly axes: readonly Readonly<Axis>[];
  readonly unit: number;
}

/** Joins neighbours that are contiguous in the source, and moves a contiguous innermost axis in the widest units. */
export function planPermute(
  shape: readonly number[],
  axes: readonly number[],
  elementBytes: number,
  widest = 16,
): PermutePlan {
  const strides = shape.map((_, i) => shape.slice(i + 1).reduce((product, size) => product * size, 1));
  const joined: Axis[] = [];
  for (const axis of axes) {
    const [size, stride] = [shape[axis] ?? 1, strides[axis] ?? 1];
    if (size === 1) continue;
    const last = joined.at(-1);
    if (last && last.stride === size * stride) {
      last.size *= size;
      last.stride = stride;
    } else joined.push({ size, stride });
  }
  const inner = joined.at(-1);
  if (!inner) return { axes: [{ size: 1, stride: 0 }], unit: elementBytes };
  const outer = joined.slice(0, -1);
  if (inner.stride !== 1) return { axes: joined, unit: elementBytes };
  const unit = widestUnit(widest, [inner.size * elementBytes, ...outer.map(({ stride }) => stride * elementBytes)]);
  const scale = unit / elementBytes;
  return {
    axes: [
      ...outer.map(({ size, stride }) => ({ size, stride: stride / scale })),
      { size: inner.size / scale, stride: 1 },
    ],
    unit,
  };
}

export function permuteInto(r: Runtime, to: CudaTensor, x: CudaTensor, axes: readonly number[]): void {
  if (to.count === 0) return;
  const plan = planPermute(x.shape, axes, dtypeBytes(x.dtype), widestUnit(16, [to.address, x.address]));
  if (plan.axes.length > mostAxes) throw new Error(`permute: ${plan.axes.length} axes, at most ${mostAxes}`);
  const count = plan.axes.reduce((product, { size }) => product * size, 1);
  const struct = new DataView(new ArrayBuffer(mostAxes * 12));
  for (const [i, { size, stride }] of plan.axes.entries()) {
    struct.setUint32(4 * i, size, true);
    struct.setBigUint64(4 * mostAxes + 8 * i, BigInt(stride), true);
  }
  r.run(
    permuteKernel,
    { UNIT: unitName(plan.unit), INDEX: indexName(x.count), RANK: plan.axes.length },
    { ...flatLaunch(count), args: [to.address, x.address, count], struct: new Uint8Array(struct.buffer) },
  );
}
