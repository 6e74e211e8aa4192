// Tensors of a GPU.
import { type BlockMemory, type DeviceTensor, ownTensor, type Tensor, TensorScopes } from '../../backend/index.js';

export type CudaTensor = DeviceTensor;

/** The GPU tensor behind a contract tensor. @throws ShapeError for one of another device. */
export function own(x: Tensor): CudaTensor {
  return ownTensor('cuda', x);
}

/** Scopes of a GPU, whose tensors are made in `memory` unless said otherwise. */
export function createScopes(memory: BlockMemory): TensorScopes {
  return new TensorScopes('cuda', memory);
}
