// The room's door: the CPU device.
export { benchCpu, type CpuBench, type CpuBenchOptions, type CpuBenchRow } from './bench.js';
export { type CpuBackend, type CpuOptions, createCpuBackend } from './cpu-backend.js';
