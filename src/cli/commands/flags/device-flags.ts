// The flags that say which device runs, shared by all commands that open one.
import { type Command, Option } from 'commander';
import type { LoadOptions } from '../../../engine/index.js';
import { RequestError } from '../../../protocol/index.js';

/** Values of the flags, as the command-line library hands them over. */
export interface DeviceFlags {
  readonly device?: string;
  readonly dtype?: 'bf16' | 'f32';
  readonly threads?: string;
  readonly cudaLibraries?: string[];
  readonly fp8Attention?: boolean;
  readonly fp8FastAccumulation?: boolean;
  readonly tuneProducts?: boolean;
}

/** Adds `--threads` and the flags of `addGpuFlags`. */
export function addDeviceFlags(command: Command): void {
  addGpuFlags(command);
  command.option('--threads <n>', 'threads of the CPU device; all cores where absent');
}

/** Adds `--device` and how a GPU computes. */
export function addGpuFlags(command: Command): void {
  command
    .option(
      '--device <name>',
      'device to run on: cpu, cuda or cuda:N; the first usable GPU, else the CPU, where absent',
    )
    .addOption(
      new Option('--dtype <name>', 'what networks compute in on a GPU (bf16 where absent)').choices(['bf16', 'f32']),
    )
    .option('--fp8-attention', 'attention over generated rows in FP8, where a kernel serves it')
    .option('--fp8-fast-accumulation', 'sums of FP8 products keep fewer bits: faster, less exact')
    .option('--tune-products', 'time the algorithms of each product once, and keep the choice beside the kernels')
    .option('--cuda-libraries <folder...>', "folders to look for CUDA's libraries in before all others");
}

/** Reads the flags. @throws RequestError for a bad thread count */
export function readDeviceFlags(
  flags: DeviceFlags,
): Pick<LoadOptions, 'device' | 'dtype' | 'threads' | 'cudaLibraries' | 'gpu'> {
  const { threads, ...rest } = flags;
  return { ...readGpuFlags(rest), threads: readThreads(threads) };
}

/** Reads the flags of a GPU. */
export function readGpuFlags(
  flags: Omit<DeviceFlags, 'threads'>,
): Pick<LoadOptions, 'device' | 'dtype' | 'cudaLibraries' | 'gpu'> {
  const { device, dtype, cudaLibraries, fp8Attention, fp8FastAccumulation, tuneProducts } = flags;
  return { device, dtype, cudaLibraries, gpu: { fp8Attention, fp8FastAccumulation, tune: tuneProducts } };
}

function readThreads(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const threads = Number(text);
  if (Number.isInteger(threads) && threads >= 1 && threads <= 512) return threads;
  throw new RequestError('invalid_value', 'threads', `--threads must be a whole number from 1 to 512, got ${text}`);
}
