// What an engine keeps between generations, and how much of it.
import { RunCaches } from '../../pipeline/run-caches.js';
import type { DeviceName } from '../loader.js';

/** Bounds of what is kept; what is absent follows the device. */
export interface KeepOptions {
  /** Most bytes of keys and values of prompts that no generation is using; 0 keeps none. */
  readonly textBytes?: number | undefined;
  /** Most shapes of requests whose recorded steps are kept; 0 keeps none. */
  readonly shapes?: number | undefined;
  /** Branches of together at most so many rows go through the network together; as many as help where absent. */
  readonly joinedRows?: number | undefined;
}

const mebibyte = 2 ** 20;
/** 1 GiB is what 7 000 tokens take on a GPU in the published network of eight billion parameters. */
const textBytes = { cpu: 64 * mebibyte, gpu: 1024 * mebibyte };
/** Recording takes a few hundredths of a second, which a long clip does not notice: its memory is better given back. */
const sessionBytes = 2048 * mebibyte;
const shapesOnGpu = 4;

/**
 * Opens the caches of a device's networks. On the CPU steps are not recorded, so that nothing of them is kept.
 * @param network names the checkpoint, the device and its precision
 */
export function openCaches(
  device: DeviceName,
  { textBytes: texts, shapes, joinedRows }: KeepOptions,
  network: readonly string[],
): RunCaches {
  const isCpu = device === 'cpu';
  return new RunCaches({
    textBytes: texts ?? (isCpu ? textBytes.cpu : textBytes.gpu),
    sessions: shapes ?? (isCpu ? 0 : shapesOnGpu),
    sessionBytes,
    joinedRows,
    network: network.join(),
  });
}

/** Gives back what is kept where a job of so many bytes would not fit beside it. */
export function makeRoom(caches: RunCaches, neededBytes: number, totalBytes: number): void {
  const { texts, sessions } = caches.use;
  if (neededBytes + texts.bytes + sessions.bytes > totalBytes) caches.giveBack();
}
