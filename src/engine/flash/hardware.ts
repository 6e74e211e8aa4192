// What a model runs on, in the names that callers of the policy use: `cpu`, or the GPU's architecture as `sm90`.
import { RequestError } from '../../protocol/index.js';
import type { EngineConfig } from '../config.js';
import { chooseDevice, type DeviceName, surveyGpus } from '../loader.js';

/** A device and what it is. */
export interface Hardware {
  readonly device: DeviceName;
  /** `cpu` or `sm80` … `sm120`. */
  readonly name: string;
  /** Whether it multiplies E4M3 numbers. */
  readonly hasFp8: boolean;
}

/**
 * Finds the device.
 * @param asked `cpu`, `cuda` or `cuda:N` choose one; a name with an architecture, as `rtx_sm120`, must be what is there;
 *   `auto` or nothing take the best there is
 * @throws RequestError naming what was asked and what is there
 */
export function detectHardware(asked: string | undefined, { device, libraryRoots }: EngineConfig): Hardware {
  const wanted = asked?.toLowerCase() ?? 'auto';
  const architecture = /^(?:[a-z0-9]+_)?sm_?(\d{2,3})[a-z]?$/.exec(wanted)?.[1];
  if (architecture === undefined) return describeDevice(chooseNamed(asked, wanted, device, libraryRoots), libraryRoots);
  const found = describeDevice(chooseDevice(device, libraryRoots), libraryRoots);
  if (found.name === `sm${architecture}`) return found;
  throw new RequestError(
    'unsupported',
    'hardware',
    `hardware ${asked} was asked for, this machine has ${found.name}: leave hardware out to use what is there`,
  );
}

function chooseNamed(
  asked: string | undefined,
  wanted: string,
  configured: string | undefined,
  libraryRoots: readonly string[],
): DeviceName {
  if (wanted === 'auto') return chooseDevice(configured, libraryRoots);
  if (wanted === 'cpu' || /^cuda(:\d+)?$/.test(wanted)) return chooseDevice(wanted, libraryRoots);
  throw new RequestError(
    'invalid_value',
    'hardware',
    `hardware ${asked} is unknown; there are auto, cpu, cuda, cuda:N, and names of an architecture such as rtx_sm120`,
  );
}

function describeDevice(device: DeviceName, libraryRoots: readonly string[]): Hardware {
  if (device === 'cpu') return { device, name: 'cpu', hasFp8: false };
  const ordinal = Number(device.slice('cuda:'.length));
  const gpu = surveyGpus(libraryRoots).gpus[ordinal];
  // Opening it says best why it is not there.
  if (gpu === undefined) return { device, name: device, hasFp8: true };
  const { major, minor } = gpu.capability;
  return { device, name: `sm${major}${minor}`, hasFp8: 10 * major + minor >= 89 };
}
