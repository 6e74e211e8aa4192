// What one compute thread works with: kernels, products, scratch memory and the job board.

import { baseAddress, blasProducts, openBlas } from '../blas.js';
import { type Kernels, startKernels } from '../kernel-module.js';
import { kernelProducts, type Products } from '../kernel-products.js';
import { JobBoard } from './job-board.js';

/** Scratch of each thread: patches of a convolution, keys and scores of attention, rows being widened. */
export const scratchBytes = 4 << 20;
const workBytes = 2176;
/** Bytes to allocate for a thread. */
export const threadBytes = scratchBytes + workBytes;

/** What a thread is started with; may be sent to a worker. */
export interface ThreadSetup {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  /** Address of `threadBytes` bytes of its own. */
  readonly scratch: number;
  /** BLAS library to open, or null for the kernels. */
  readonly blas: string | null;
}

export interface Thread {
  readonly kernels: Kernels;
  readonly products: Products;
  readonly board: JobBoard;
  /** The job's arguments, and where the kernels find them. */
  readonly args: Float64Array;
  readonly argsAddress: number;
  readonly scratch: number;
  /** The float32 at an address. */
  floats(address: number): number;
}

/** @throws NativeError when `blas` names a library that cannot be opened. */
export function startThread({ module, memory, scratch, blas }: ThreadSetup): Thread {
  const kernels = startKernels(module, memory);
  kernels.setWork(scratch + scratchBytes);
  const board = new JobBoard(memory.buffer);
  const products = blas === null ? kernelProducts(kernels) : blasProducts(openBlas(blas), baseAddress(memory));
  const floats = (address: number) => new Float32Array(memory.buffer, address, 1)[0] as number;
  return { kernels, products, board, args: board.args, argsAddress: board.argsAddress, scratch, floats };
}
