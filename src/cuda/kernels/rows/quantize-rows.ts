// Launches `quantize_rows`.
import type { DType } from '../../../backend/index.js';
import type { Runtime } from '../../runtime/runtime.js';
import { typeNames, vectorWidth } from '../elementwise.js';
import type { KernelSource } from '../sources.js';
import { rowLaunch } from './row-launch.js';

const quantizeRowsKernel: KernelSource = { file: 'rows/quantize-rows', entry: 'quantize_rows', signature: 'pppi' };

export interface RowQuantization {
  /** Address of E4M3 `[rows, columns]`. */
  readonly values: number;
  /** Address of float32 `[rows]`. */
  readonly scales: number;
  /** Rows of `columns` elements, or twice as many: gate and up of SwiGLU, which is applied. */
  readonly x: { readonly address: number; readonly dtype: DType };
  readonly rows: number;
  readonly columns: number;
  readonly swiglu?: boolean;
}

export function quantizeRowsInto(r: Runtime, { values, scales, x, rows, columns, swiglu }: RowQuantization): void {
  if (rows === 0 || columns === 0) return;
  const width = vectorWidth([{ address: values, dtype: 'f8e4m3' }, x], [columns]);
  const { defines, launch } = rowLaunch(rows, columns, width, 512);
  r.run(
    quantizeRowsKernel,
    { TYPE: typeNames[x.dtype], SWIGLU: swiglu ? 1 : 0, ...defines },
    { ...launch, args: [values, scales, x.address, rows] },
  );
}
