// The parity command's way in: opens the device and closes it again.
import { readConfig } from '../config.js';
import { chooseDevice, openDevice } from '../loader.js';
import { type ParityRow, runParity } from './parity/parity.js';

/** What to compare. */
export interface ParityRequest {
  readonly golden: string;
  readonly checkpoints?: string | undefined;
  readonly only?: readonly string[] | undefined;
  readonly device?: string | undefined;
}

/** Runs golden cases and yields each row as it is known. @throws RequestError for an unknown device */
export async function* openParity(request: ParityRequest): AsyncGenerator<ParityRow, void> {
  const { golden, checkpoints, only, device } = request;
  const config = readConfig();
  const { backend } = await openDevice(chooseDevice(device ?? config.device), {
    threads: config.threads,
    blas: config.blas,
  });
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
