// Chooses and opens the device. The one place that names devices.
import { readFileSync, realpathSync } from 'node:fs';
import { cpus } from 'node:os';
import { basename } from 'node:path';
import type { Backend } from '../backend/index.js';
import { benchCpu, type CpuBench, type CpuBenchOptions, createCpuBackend } from '../cpu/index.js';
import { nearestName, RequestError } from '../protocol/index.js';

/** Devices this build knows. */
export const deviceNames = ['cpu'] as const;
export type DeviceName = (typeof deviceNames)[number];

/** How a device is opened. */
export interface DeviceOptions {
  /** Threads of the CPU; all cores where absent. */
  readonly threads?: number | undefined;
  /** Path of an OpenBLAS, or `off`. */
  readonly blas?: string | undefined;
}

/**
 * The name of a device this build knows; `auto` and nothing mean the best there is.
 * @throws RequestError for any other name
 */
export function chooseDevice(name: string | undefined): DeviceName {
  if (name === undefined || name === 'auto') return 'cpu';
  const device = deviceNames.find((known) => known === name.toLowerCase());
  if (device !== undefined) return device;
  const nearest = nearestName(name, deviceNames);
  const hint = nearest === undefined ? '' : ` (did you mean ${nearest}?)`;
  throw new RequestError(
    'invalid_value',
    'device',
    `device ${name} is unknown${hint}; there are: ${deviceNames.join(', ')}`,
  );
}

/** An open device and what its results depend on. */
export interface OpenedDevice {
  readonly backend: Backend;
  /** Its name; with a BLAS also the processor's, since those choose their kernels by it. */
  readonly name: string;
  /** File name of the BLAS in use, or `built-in`. */
  readonly blas: string;
  /** One line for people. */
  readonly description: string;
}

/** Opens a device. @throws RangeError for a bad thread count; NativeError when the BLAS that was named cannot be loaded */
export async function openDevice(device: DeviceName, { threads, blas }: DeviceOptions): Promise<OpenedDevice> {
  switch (device) {
    case 'cpu': {
      const backend = await createCpuBackend({
        ...(threads === undefined ? {} : { threads }),
        ...(blas === undefined ? {} : { blas: blas === 'off' ? null : blas }),
      });
      const library = backend.blas === null ? 'built-in' : basename(loadedFile(backend.blas));
      const processor = backend.blas === null ? '' : ` (${cpus()[0]?.model.trim() ?? 'unknown'})`;
      return { backend, name: `cpu${processor}`, blas: library, description: backend.describe() };
    }
    default:
      return device satisfies never;
  }
}

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
