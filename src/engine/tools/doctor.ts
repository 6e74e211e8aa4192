// Whether this machine has what the engine needs, and what to do where it has not.
import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { availableParallelism, cpus, freemem, release, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { findDefaultCheckpoint } from '../checkpoint/default-checkpoint.js';
import { type EngineConfig, readConfig } from '../config.js';
import { findEncoder } from '../encoder.js';
import { howToGetGpu, openDevice, surveyGpus, whyNoGpu } from '../loader.js';
import { packageVersion } from '../package-info.js';
import { formatBytes } from './format-bytes.js';

/** One finding. `missing` keeps something from working; `note` is worth knowing. */
export interface Finding {
  readonly name: string;
  readonly status: 'ok' | 'note' | 'missing';
  readonly value: string;
  /** What to do; null where nothing needs to be done. */
  readonly remedy: string | null;
}

const oldestNode = [20, 19] as const;

/** Examines the machine. Never throws; what cannot be found out is a finding. */
export async function examineMachine(config: EngineConfig = readConfig()): Promise<readonly Finding[]> {
  return [
    { name: 'orrery', status: 'ok', value: packageVersion(), remedy: null },
    examineNode(),
    { name: 'platform', status: 'ok', value: `${process.platform} ${process.arch}, kernel ${release()}`, remedy: null },
    {
      name: 'cpu',
      status: 'ok',
      value: `${cpus()[0]?.model.trim() ?? 'unknown'}, ${availableParallelism()} threads`,
      remedy: null,
    },
    examineSimd(),
    await examineBlas(config),
    await examineFfmpeg(config),
    examineCheckpoint(config),
    examineCache(config),
    examineMemory(),
    ...(await examineGpu(config)),
  ];
}

function examineNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isOld = major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1]);
  const value = process.versions.node;
  return isOld
    ? {
        name: 'node',
        status: 'missing',
        value,
        remedy: `install Node ${oldestNode.join('.')} or newer (https://nodejs.org)`,
      }
    : { name: 'node', status: 'ok', value, remedy: null };
}

/** A function that returns a 128-bit zero: valid only where WebAssembly has SIMD. */
const simdProbe = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11],
);

function hasSimd(): boolean {
  try {
    return new WebAssembly.Module(simdProbe) !== undefined;
  } catch {
    return false;
  }
}

function examineSimd(): Finding {
  return hasSimd()
    ? { name: 'simd', status: 'ok', value: '128-bit, in WebAssembly', remedy: null }
    : {
        name: 'simd',
        status: 'missing',
        value: 'not available',
        remedy: 'use a processor and a Node build with WebAssembly SIMD',
      };
}

async function examineBlas(config: EngineConfig): Promise<Finding> {
  try {
    const { backend, blas, description } = await openDevice('cpu', { threads: 1, blas: config.blas });
    await backend[Symbol.asyncDispose]();
    if (blas !== 'built-in')
      return { name: 'blas', status: 'ok', value: description.replace(/^cpu: 1 thread, /, ''), remedy: null };
    const remedy = 'for faster products on large checkpoints: apt-get install libopenblas0';
    return { name: 'blas', status: 'note', value: 'built-in kernels', remedy: config.blas === 'off' ? null : remedy };
  } catch (error) {
    return {
      name: 'blas',
      status: 'missing',
      value: messageOf(error),
      remedy: 'correct ORRERY_BLAS, or set it to off',
    };
  }
}

async function examineFfmpeg(config: EngineConfig): Promise<Finding> {
  try {
    const { version, path, origin } = await findEncoder(config);
    const remedy = 'for clips of strangers, install a maintained one: apt-get install ffmpeg';
    const value = `${version} (${path}, ${origin})`;
    return {
      name: 'ffmpeg',
      status: origin === 'bundled' ? 'note' : 'ok',
      value,
      remedy: origin === 'bundled' ? remedy : null,
    };
  } catch {
    return {
      name: 'ffmpeg',
      status: 'missing',
      value: 'not found: no clips can be read or written',
      remedy: 'apt-get install ffmpeg',
    };
  }
}

function examineCheckpoint(config: EngineConfig): Finding {
  if (config.model !== undefined)
    return { name: 'checkpoint', status: 'ok', value: `${config.model} (ORRERY_MODEL)`, remedy: null };
  try {
    return { name: 'checkpoint', status: 'ok', value: findDefaultCheckpoint(), remedy: null };
  } catch (error) {
    return {
      name: 'checkpoint',
      status: 'missing',
      value: messageOf(error),
      remedy: 'orrery pull nvidia/Cosmos3-Nano',
    };
  }
}

function examineCache({ cacheDir }: EngineConfig): Finding {
  let folder = cacheDir;
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    return { name: 'cache', status: 'ok', value: `${cacheDir}, ${formatBytes(bavail * bsize)} free`, remedy: null };
  } catch {
    return {
      name: 'cache',
      status: 'missing',
      value: `${cacheDir} is not writable`,
      remedy: 'set HF_HOME to a folder that is',
    };
  }
}

function examineMemory(): Finding {
  const value = `${formatBytes(freemem())} free of ${formatBytes(totalmem())}`;
  return freemem() < 2 ** 30
    ? { name: 'memory', status: 'note', value, remedy: 'close other programs, or ask for small sizes and few frames' }
    : { name: 'memory', status: 'ok', value, remedy: null };
}

async function examineGpu(config: EngineConfig): Promise<readonly Finding[]> {
  const survey = surveyGpus(config.libraryRoots);
  const { driver, gpus, libraries, lacks } = survey;
  if (driver === null && libraries.length === 0) {
    const value = 'no NVIDIA driver and no CUDA libraries: the CPU is used';
    return [{ name: 'gpu', status: 'note', value, remedy: `for an NVIDIA GPU: ${howToGetGpu(survey)}` }];
  }
  const findings: Finding[] =
    driver === null ? [] : [{ name: 'gpu: driver', status: 'ok', value: `CUDA ${driver}`, remedy: null }];
  for (const { ordinal, name, capability, totalBytes } of gpus) {
    const { major, minor } = capability;
    const free = await freeBytes(ordinal, config);
    const value = `${name}, compute capability ${major}.${minor}, ${formatBytes(totalBytes)}`;
    const reason = whyNoGpu(survey, ordinal);
    findings.push({
      name: `gpu: cuda:${ordinal}`,
      status: reason === null ? 'ok' : 'note',
      value: free === null ? value : `${value}, ${formatBytes(free)} free`,
      remedy: reason,
    });
  }
  for (const { name, version, path } of libraries)
    findings.push({
      name: `gpu: ${name}`,
      status: 'ok',
      value: path === null ? version : `${version} (${path})`,
      remedy: null,
    });
  for (const { what, reason, remedy } of lacks)
    findings.push({ name: `gpu: ${what}`, status: 'note', value: shorten(reason), remedy });
  return findings;
}

/** Bytes free on a GPU that can be used, or null. */
async function freeBytes(ordinal: number, config: EngineConfig): Promise<number | null> {
  try {
    const { cuda } = await openDevice(`cuda:${ordinal}`, { libraryRoots: config.libraryRoots });
    const free = cuda?.report().freeBytes ?? null;
    await cuda?.[Symbol.asyncDispose]();
    return free;
  } catch {
    return null;
  }
}

/** Reasons of the loader name every place that was tried; the first says enough. */
function shorten(reason: string): string {
  return reason.length > 120 ? `${reason.slice(0, 117)}...` : reason;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
