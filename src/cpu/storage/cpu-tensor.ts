// Tensors of the CPU device.
import { type DeviceTensor, ownTensor, type Tensor, TensorScopes } from '../../backend/index.js';
import type { DeviceMemory } from './device-memory.js';

export type CpuTensor = DeviceTensor;

/** The CPU tensor behind a contract tensor. @throws ShapeError for one of another device. */
export function own(x: Tensor): CpuTensor {
  return ownTensor('cpu', x);
}

/**
 * Scopes of the CPU device.
 * @param reclaim called when memory runs short; frees what can be made again
 */
export function createScopes(memory: DeviceMemory, reclaim: () => void): TensorScopes {
  return new TensorScopes('cpu', {
    allocate(bytes) {
      if (!memory.fits(bytes)) reclaim();
      return memory.allocate(bytes);
    },
    free: (address) => memory.free(address),
  });
}
