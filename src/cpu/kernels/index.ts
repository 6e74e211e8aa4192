// The CPU kernels: loops over shared memory that threads run on tiles. Addresses and strides are in bytes, counts in elements.
export { activate, swigluRows } from './activation';
export { gemm } from './gemm';
export { copyRows, copyStrided, fillRows, gatherPatches, upsampleRows } from './move';
export { layerNormRows, rmsNormRows } from './norm';
export { interleaveRows, narrow, panelColumns, scatterRow, widen } from './pack';
export { addRows, combine, meanRows, pairSame, pairSpread, snakeRows, toBytes } from './pointwise';
export { rotateHeads } from './positions';
export { divideRows, softmaxBlock } from './softmax';
export { setWork } from './work';
