// The room's door: the device contract on an NVIDIA GPU.
export { type CudaBackend, type CudaOptions, type CudaReport, createCudaBackend } from './cuda-backend.js';
export { CudaError, KernelCompileError } from './ffi/errors.js';
export type { StreamMark } from './runtime/stream.js';
export { type CudaSurvey, describeRemedies, surveyCuda, usableGpus, whyUnusable } from './runtime/survey.js';
export type { RandomPart } from './weights/random-weight.js';
