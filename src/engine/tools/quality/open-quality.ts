// The quality command's way in: opens the checkpoint, and says which devices make the reference and the variants.
import { RequestError } from '../../../protocol/index.js';
import { loadNetworks } from '../../checkpoint/load-networks.js';
import { type ModelOptions, openModel } from '../../checkpoint/open-model.js';
import { type EngineConfig, readConfig } from '../../config.js';
import { omitUndefined } from '../../door/omit-undefined.js';
import { readSize } from '../../door/read-values.js';
import { chooseDevice, type DeviceDtype, type DeviceName, openDevice } from '../../loader.js';
import { measureQuality } from './measure-quality.js';
import { type Quality, type QualityDevices, type QualityJob, standardJob } from './quality.js';
import { measureReuse, type ReuseJob, type ReuseQuality } from './reuse/measure-reuse.js';

/** What makes the float32 reference. */
export const qualityReferences = ['cpu', 'cuda'] as const;
export type QualityReference = (typeof qualityReferences)[number];

export interface QualityOptions extends ModelOptions {
  /** What is measured: the first usable GPU, else the CPU, where absent. */
  readonly device?: string | undefined;
  /** `cpu` where absent. `cuda` saves time, and is itself held against the CPU on one prompt. */
  readonly reference?: QualityReference | undefined;
  readonly threads?: number | undefined;
  readonly cudaLibraries?: readonly string[] | undefined;
  /** `WIDTHxHEIGHT`; the standard job's where absent. */
  readonly size?: string | undefined;
  /** What else differs from the standard job. */
  readonly job?: { readonly [key in keyof QualityJob]?: QualityJob[key] | undefined } | undefined;
  /** Names of variants; all that the device can where absent. */
  readonly only?: readonly string[] | undefined;
  /** Told what is being done. */
  readonly onProgress?: ((what: string) => void) | undefined;
}

/**
 * Measures what precisions and skipped steps cost in quality.
 * @throws what opening and planning throw; RequestError for a reference on a GPU where the device is none
 */
export async function openQuality(options: QualityOptions, config: EngineConfig = readConfig()): Promise<Quality> {
  const libraryRoots = [...(options.cudaLibraries ?? []), ...config.libraryRoots];
  const device = chooseDevice(options.device ?? config.device, libraryRoots);
  const { reference = 'cpu', only, onProgress } = options;
  if (reference === 'cuda' && device === 'cpu')
    throw new RequestError(
      'conflict',
      'reference',
      '--reference cuda needs a GPU, and the device is the CPU; leave it out, or give --device cuda',
    );
  const { threads = config.threads } = options;
  const { blas, kernelCache } = config;
  const opener = (name: DeviceName, dtype: DeviceDtype) => () =>
    openDevice(name, { threads, blas, libraryRoots, kernelCache, ...(name !== 'cpu' && { dtype }) });
  const devices: QualityDevices = {
    openReference: opener(reference === 'cpu' ? 'cpu' : device, 'f32'),
    openWitness: reference === 'cpu' ? null : opener('cpu', 'f32'),
    openTested: device === 'cpu' ? null : opener(device, 'bf16'),
  };
  const model = await openModel(options, config);
  try {
    const { checkpoint, facts } = model;
    const size = options.size === undefined ? {} : readSize(options.size);
    const job = { ...standardJob, ...size, ...omitUndefined(options.job ?? {}) };
    return await measureQuality({ checkpoint, facts, job, devices, only, onProgress });
  } finally {
    model.checkpoint[Symbol.dispose]();
  }
}

/** Steps and guidance of the published networks' clips. */
const reuseDefaults: Pick<ReuseJob, 'prompts' | 'steps' | 'guidance'> = { prompts: 8, steps: 35, guidance: 3 };

export interface ReuseQualityOptions extends Omit<QualityOptions, 'reference' | 'job'> {
  readonly dtype?: DeviceDtype | undefined;
  readonly job?: { readonly [key in keyof ReuseJob]?: ReuseJob[key] | undefined } | undefined;
}

/**
 * Measures what step caches and reused guidance cost in quality, against the whole run on the same device.
 * @throws what opening and planning throw
 */
export async function openReuseQuality(
  options: ReuseQualityOptions,
  config: EngineConfig = readConfig(),
): Promise<ReuseQuality> {
  const libraryRoots = [...(options.cudaLibraries ?? []), ...config.libraryRoots];
  const name = chooseDevice(options.device ?? config.device, libraryRoots);
  const { threads = config.threads, dtype, only, onProgress } = options;
  const { blas, kernelCache } = config;
  const { checkpoint: opened, facts } = await openModel(options, config);
  using checkpoint = opened;
  const device = await openDevice(name, { threads, blas, libraryRoots, kernelCache, dtype });
  await using _backend = device.backend;
  const { networks } = loadNetworks(checkpoint, device.backend, { cuda: device.cuda });
  const size = options.size === undefined ? {} : readSize(options.size);
  const job: ReuseJob = { ...standardJob, ...reuseDefaults, ...size, ...omitUndefined(options.job ?? {}) };
  const rows = await measureReuse({ facts, networks, job, only, onProgress });
  return { model: facts.id, job, device: device.name, rows };
}
