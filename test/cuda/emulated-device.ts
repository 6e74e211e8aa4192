// The CUDA backend on the fake driver with emulated kernels: a device for the op cases where there is no GPU.
import { type CudaBackend, createBackendOn } from '../../src/cuda/cuda-backend.js';
import { Device } from '../../src/cuda/runtime/device.js';
import { createHostCompiler, createHostRunner } from './emulator/host-compiler.js';
import { createFakeCublasLt } from './fake-cublaslt.js';
import { createFakeCudnn } from './fake-cudnn.js';
import { createFakeDriver } from './fake-driver.js';

/** @param folder where compiled kernels are kept. @param cudnn whether a fake cuDNN takes whatever it can, however small. */
export function openEmulatedDevice(
  dtype: 'f32' | 'bf16',
  folder: string,
  { guarded = true, cudnn = false }: { readonly guarded?: boolean; readonly cudnn?: boolean } = {},
): CudaBackend {
  const { driver, state } = createFakeDriver({ totalBytes: 2 ** 32, capability: [8, 9], onLaunch: createHostRunner() });
  return createBackendOn(
    {
      device: new Device(driver, 0),
      compiler: createHostCompiler(folder),
      cublasLt: createFakeCublasLt({ enqueue: state.enqueue }),
      ...(cudnn && { cudnn: { open: () => createFakeCudnn({ enqueue: state.enqueue }), leastWork: 0 } }),
    },
    { dtype, guarded },
  );
}
