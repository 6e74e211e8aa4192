// Launches `copy_rows`.
import type { Runtime } from '../../runtime/runtime.js';
import { flatLaunch, indexName, unitName, widestUnit } from '../elementwise.js';
import type { KernelSource } from '../sources.js';

const copyRowsKernel: KernelSource = { file: 'layout/copy-rows', entry: 'copy_rows', signature: 'ppiiii' };

/** Rows of `bytes` bytes; pitches are bytes from one row to the next. */
export interface RowCopy {
  readonly to: number;
  readonly toPitch: number;
  readonly from: number;
  readonly fromPitch: number;
  readonly bytes: number;
  readonly rows: number;
}

export function copyRows(r: Runtime, { to, toPitch, from, fromPitch, bytes, rows }: RowCopy): void {
  if (rows === 0 || bytes === 0) return;
  if (rows === 1 || (bytes === toPitch && bytes === fromPitch)) {
    r.stream.copy(to, from, bytes * rows);
    return;
  }
  const unit = widestUnit(16, [bytes, toPitch, fromPitch, to, from]);
  const count = (bytes / unit) * rows;
  const reach = (Math.max(toPitch, fromPitch) / unit) * rows;
  r.run(
    copyRowsKernel,
    { UNIT: unitName(unit), INDEX: indexName(reach) },
    { ...flatLaunch(count), args: [to, from, count, bytes / unit, toPitch / unit, fromPitch / unit] },
  );
}
