// Chooses and opens the device. The one place that names devices.
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { cpus, freemem, totalmem } from 'node:os';
import { basename } from 'node:path';
import type { Backend } from '../backend/index.js';
import { benchCpu, type CpuBench, type CpuBenchOptions, createCpuBackend } from '../cpu/index.js';
import {
  type CudaBackend,
  type CudaSurvey,
  createCudaBackend,
  describeRemedies,
  type StreamMark,
  surveyCuda,
  usableGpus,
  whyUnusable,
} from '../cuda/index.js';
import { nearestName, RequestError } from '../protocol/index.js';
import { readConfig } from './config.js';
import type { GpuMemory } from './run/events.js';

/** Devices this build knows; GPUs beyond the first are `cuda:1`, `cuda:2`, … */
export const deviceNames = ['cpu', 'cuda'] as const;
export type DeviceName = 'cpu' | `cuda:${number}`;

/** What networks compute in. */
export const deviceDtypes = ['bf16', 'f32'] as const;
export type DeviceDtype = (typeof deviceDtypes)[number];

/** @throws RequestError where random weights of full size would have to be made by the CPU: that takes minutes and all its memory */
export function checkSynthetic(synthetic: string | undefined, device: DeviceName): void {
  if (synthetic === undefined || device !== 'cpu') return;
  throw new RequestError(
    'conflict',
    'synthetic',
    `synthetic ${synthetic} makes weights of full size on a GPU, and the device is cpu; give --device cuda, or leave --synthetic out`,
  );
}

/** How a device is opened. */
export interface DeviceOptions {
  /** Threads of the CPU; all cores where absent. */
  readonly threads?: number | undefined;
  /** Path of an OpenBLAS, or `off`. */
  readonly blas?: string | undefined;
  /** `bf16` where absent on a GPU; the CPU computes in `f32`. */
  readonly dtype?: DeviceDtype | undefined;
  /** Folders that CUDA's libraries are sought in first. */
  readonly libraryRoots?: readonly string[] | undefined;
  /** Where compiled GPU kernels are kept; nothing is kept where absent. */
  readonly kernelCache?: string | undefined;
  readonly gpu?: GpuChoices | undefined;
}

/** How a GPU computes; each is off where absent. */
export interface GpuChoices {
  /** Attention over generated rows in FP8, where a kernel serves it. */
  readonly fp8Attention?: boolean | undefined;
  /** Sums of FP8 products keep fewer bits: faster, less exact. */
  readonly fp8FastAccumulation?: boolean | undefined;
  /** Times the library's algorithms once for each shape of a product, and keeps the choice beside the kernels. */
  readonly tune?: boolean | undefined;
}

/** A GPU was asked for that cannot be used. The message says what is missing and how to get it. */
export class DeviceUnavailableError extends Error {
  override readonly name = 'DeviceUnavailableError';
}

/**
 * The name of a device this build knows: `cpu`, `cuda` (the first GPU) or `cuda:N`. `auto` and nothing mean the first usable GPU,
 * else the CPU.
 * @throws RequestError for any other name
 */
export function chooseDevice(
  name: string | undefined,
  libraryRoots: readonly string[] = readConfig().libraryRoots,
): DeviceName {
  const wanted = name?.toLowerCase() ?? 'auto';
  if (wanted === 'auto') return chooseBest(libraryRoots);
  if (wanted === 'cpu') return 'cpu';
  const ordinal = /^cuda(?::(\d{1,3}))?$/.exec(wanted);
  if (ordinal) return `cuda:${Number(ordinal[1] ?? 0)}`;
  const nearest = /^(gpu|nvidia)/.test(wanted) ? 'cuda' : nearestName(wanted, deviceNames);
  const hint = nearest === undefined ? '' : ` (did you mean ${nearest}?)`;
  throw new RequestError(
    'invalid_value',
    'device',
    `device ${name} is unknown${hint}; there are: ${deviceNames.join(', ')}, and cuda:N for further GPUs`,
  );
}

/** Files that a driver makes where there is a GPU; where there are none, no library need be opened to know. */
const gpuFiles = ['/dev/nvidiactl', '/dev/dxg'];

function chooseBest(libraryRoots: readonly string[]): DeviceName {
  if (!gpuFiles.some((path) => existsSync(path))) return 'cpu';
  const [first] = usableGpus(surveyCuda(libraryRoots));
  return first === undefined ? 'cpu' : `cuda:${first.ordinal}`;
}

/** An open device and what its results depend on. */
export interface OpenedDevice {
  readonly backend: Backend;
  /** The same where it is a GPU. */
  readonly cuda: CudaBackend | null;
  /** Its name and dtype; with a BLAS also the processor's, since those choose their kernels by it. */
  readonly name: string;
  /** File name of the BLAS in use, or `built-in`. */
  readonly blas: string;
  /** One line for people. */
  readonly description: string;
  /** When it was opened, before any weight came. */
  readonly memory: { readonly totalBytes: number; readonly freeBytes: number };
}

/**
 * Opens a device.
 * @throws RangeError for a bad thread count; NativeError when the BLAS that was named cannot be loaded; DeviceUnavailableError
 */
export function openDevice(device: DeviceName, options: DeviceOptions): Promise<OpenedDevice> {
  return device === 'cpu' ? openCpu(options) : openCuda(Number(device.slice('cuda:'.length)), options);
}

async function openCpu({ threads, blas, dtype }: DeviceOptions): Promise<OpenedDevice> {
  if (dtype === 'bf16')
    throw new RequestError('invalid_value', 'dtype', 'dtype is bf16, the CPU device computes in f32; leave it out');
  const backend = await createCpuBackend({
    ...(threads === undefined ? {} : { threads }),
    ...(blas === undefined ? {} : { blas: blas === 'off' ? null : blas }),
  });
  const library = backend.blas === null ? 'built-in' : basename(loadedFile(backend.blas));
  const processor = backend.blas === null ? '' : ` (${cpus()[0]?.model.trim() ?? 'unknown'})`;
  return {
    backend,
    cuda: null,
    name: `cpu${processor}`,
    blas: library,
    description: backend.describe(),
    memory: { totalBytes: totalmem(), freeBytes: freemem() },
  };
}

async function openCuda(
  ordinal: number,
  { dtype = 'bf16', libraryRoots = [], kernelCache, gpu: choices = {} }: DeviceOptions,
): Promise<OpenedDevice> {
  const survey = surveyCuda(libraryRoots);
  const reason = whyUnusable(survey, ordinal);
  if (reason !== null) throw new DeviceUnavailableError(`device cuda:${ordinal} cannot be used: ${reason}`);
  const backend = createCudaBackend({
    device: ordinal,
    dtype,
    libraryRoots,
    ...(kernelCache === undefined ? {} : { cacheDir: kernelCache }),
    fp8Attention: choices.fp8Attention === true,
    fp8FastAccumulation: choices.fp8FastAccumulation === true,
    tune: choices.tune === true,
  });
  const { totalBytes, freeBytes } = backend.report();
  const gpu = survey.gpus[ordinal]?.name ?? 'GPU';
  const versions = survey.libraries
    .filter(({ name }) => name !== 'cublasLt')
    .map(({ name, version }) => `${name} ${version}`);
  return {
    backend,
    cuda: backend,
    name: `cuda (${[gpu, dtype, ...versions, ...namesOf(choices)].join(', ')})`,
    blas: `cublasLt ${survey.libraries.find(({ name }) => name === 'cublasLt')?.version ?? 'unknown'}`,
    description: `cuda:${ordinal}: ${gpu}, ${dtype}, CUDA ${survey.driver ?? 'unknown'}, ${versions.join(', ')}`,
    memory: { totalBytes, freeBytes },
  };
}

function namesOf({ fp8Attention, fp8FastAccumulation, tune }: GpuChoices): readonly string[] {
  return [
    ...(fp8Attention === true ? ['FP8 attention'] : []),
    ...(fp8FastAccumulation === true ? ['fast accumulation'] : []),
    ...(tune === true ? ['tuned'] : []),
  ];
}

/** The most memory that a GPU has given so far; null on the CPU. */
export function readGpuMemory({ cuda }: OpenedDevice): GpuMemory | null {
  if (cuda === null) return null;
  const { peakReserved, peakAllocated } = cuda.report().memory;
  return { reserved: peakReserved, allocated: peakAllocated };
}

/** What this machine has of CUDA. */
export function surveyGpus(libraryRoots: readonly string[]): CudaSurvey {
  return surveyCuda(libraryRoots);
}

/** Why a GPU cannot be used, and what to do; null where it can. */
export function whyNoGpu(survey: CudaSurvey, ordinal: number): string | null {
  return whyUnusable(survey, ordinal);
}

/** What gets everything that is missing to use a GPU; empty where nothing is missing. */
export function howToGetGpu({ lacks }: CudaSurvey): string {
  return describeRemedies(lacks);
}

export type { CudaBackend, CudaSurvey, StreamMark };

/** Measures the CPU device. */
export function benchDevice(options: CpuBenchOptions): Promise<CpuBench> {
  return benchCpu(options);
}

export type DeviceBench = CpuBench;

/** The file that was loaded under a library's name: its own name carries the version, which results depend on. */
function loadedFile(library: string): string {
  const stem = basename(library).replace(/\.so.*$/, '');
  try {
    const maps = readFileSync('/proc/self/maps', 'utf8');
    const mapped = maps.split('\n').flatMap((line) => / (\/\S+)$/.exec(line)?.[1] ?? []);
    return mapped.find((path) => basename(path).startsWith(stem)) ?? realpathSync(library);
  } catch {
    return library;
  }
}
