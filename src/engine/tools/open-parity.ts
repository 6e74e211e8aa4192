// The parity command's way in: opens the device and closes it again.
import { readConfig } from '../config.js';
import { chooseDevice, type DeviceDtype, type GpuChoices, openDevice } from '../loader.js';
import { type ParityRow, runParity } from './parity/parity.js';

/** What to compare. */
export interface ParityRequest {
  readonly golden: string;
  readonly checkpoints?: string | undefined;
  readonly only?: readonly string[] | undefined;
  readonly device?: string | undefined;
  readonly threads?: number | undefined;
  /** What networks compute in on a GPU; `bf16` where absent. */
  readonly dtype?: DeviceDtype | undefined;
  readonly cudaLibraries?: readonly string[] | undefined;
  readonly gpu?: GpuChoices | undefined;
}

/** Runs golden cases and yields each row as it is known. @throws RequestError for an unknown device */
export async function* openParity(request: ParityRequest): AsyncGenerator<ParityRow, void> {
  const { golden, checkpoints, only, device, cudaLibraries = [] } = request;
  const config = readConfig();
  const libraryRoots = [...cudaLibraries, ...config.libraryRoots];
  const { blas, kernelCache } = config;
  const threads = request.threads ?? config.threads;
  const dtype = request.dtype ?? config.dtype;
  const name = chooseDevice(device ?? config.device, libraryRoots);
  const { backend } = await openDevice(name, { threads, blas, dtype, libraryRoots, kernelCache, gpu: request.gpu });
  try {
    yield* runParity({
      golden,
      backend,
      ...(checkpoints === undefined ? {} : { checkpoints }),
      ...(only === undefined ? {} : { only }),
    });
  } finally {
    await backend[Symbol.asyncDispose]();
  }
}
