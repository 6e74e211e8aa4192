// Launches `embed`.
import type { Runtime } from '../../runtime/runtime.js';
import type { CudaTensor } from '../../runtime/tensor.js';
import { flatLaunch, indexName, unitName, widestUnit } from '../elementwise.js';
import type { KernelSource } from '../sources.js';

const embedKernel: KernelSource = { file: 'layout/embed', entry: 'embed', signature: 'pppiii' };

/** Where a table lies: rows of equal length in the dtype of the result. */
export interface Table {
  readonly address: number;
  readonly rows: number;
  readonly rowBytes: number;
}

export function embedInto(r: Runtime, to: CudaTensor, { address, rows, rowBytes }: Table, ids: CudaTensor): void {
  if (to.count === 0) return;
  const unit = widestUnit(16, [rowBytes, address, to.address]);
  const count = to.byteLength / unit;
  const reach = Math.max(count, (rows * rowBytes) / unit);
  r.run(
    embedKernel,
    { UNIT: unitName(unit), INDEX: indexName(reach) },
    { ...flatLaunch(count), args: [to.address, address, ids.address, count, rowBytes / unit, rows] },
  );
}
