// The room's door: the device contract on an NVIDIA GPU.
export { type CudaBackend, type CudaOptions, type CudaReport, createCudaBackend } from './cuda-backend.js';
export { CudaError, KernelCompileError } from './ffi/errors.js';
