// The room's door: the device contract.
export { allOrNothing, type Own } from './all-or-nothing.js';
export type * from './backend.js';
export { type BlockMemory, DeviceTensor, ownTensor, TensorScopes } from './device-tensor.js';
export { disposeTensors } from './dispose.js';
export { type DType, dtypeBytes, elementCount } from './dtype.js';
export { OutOfMemoryError, ShapeError, UnsupportedFormatError } from './errors.js';
export { isQuantized } from './quantized-rows.js';
export { uploadFloats } from './upload-floats.js';
export { inGroup, residentOffload } from './weight-group.js';
