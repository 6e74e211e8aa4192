// The room's door: the device contract.
export type * from './backend.js';
export { disposeTensors } from './dispose.js';
export { type DType, dtypeBytes, elementCount } from './dtype.js';
export { OutOfMemoryError, ShapeError } from './errors.js';
export { uploadFloats } from './upload-floats.js';
