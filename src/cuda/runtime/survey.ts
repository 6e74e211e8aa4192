// What of CUDA this machine has: driver, GPUs and libraries, what is missing and the command that installs it. Opens no context.
import { openCublasLt } from '../ffi/cublaslt.js';
import { CUdevice_attribute, type Driver, openDriver } from '../ffi/driver.js';
import { findLibrary, openCudaLibrary } from '../ffi/libraries.js';
import { openNvrtc } from '../ffi/nvrtc.js';
import { createCompiler } from './compiler.js';
import { type Capability, describeResult, firstOf } from './device.js';

/** A GPU that the driver lists. */
export interface GpuInfo {
  readonly ordinal: number;
  readonly name: string;
  readonly capability: Capability;
  readonly totalBytes: number;
}

export type CudaLibraryName = 'nvrtc' | 'cublasLt' | 'cudnn';

/** A library that was opened. */
export interface CudaLibrary {
  readonly name: CudaLibraryName;
  readonly version: string;
  /** Where it was found; null where only the system's loader knows. */
  readonly path: string | null;
}

/** Something that is not there. */
export interface CudaLack {
  readonly what: 'driver' | 'gpu' | CudaLibraryName;
  readonly reason: string;
  readonly remedy: string;
  /** The package of pip that has it, where one does. */
  readonly wheel?: string;
  /** Nothing runs without it. */
  readonly isFatal: boolean;
}

export interface CudaSurvey {
  /** The CUDA version that the driver serves, such as `13.0`; null without a driver. */
  readonly driver: string | null;
  readonly gpus: readonly GpuInfo[];
  readonly libraries: readonly CudaLibrary[];
  readonly lacks: readonly CudaLack[];
}

/** Kernels use bfloat16 matrix units and asynchronous copies, which begin here. */
const oldestCapability = { major: 8, minor: 0 } as const;

const isRecent = ({ major, minor }: Capability) =>
  major > oldestCapability.major || (major === oldestCapability.major && minor >= oldestCapability.minor);

/**
 * Looks for everything. Never throws.
 * @param roots folders searched for libraries first: toolkits, `site-packages` of Python environments
 */
export function surveyCuda(roots: readonly string[]): CudaSurvey {
  const lacks: CudaLack[] = [];
  const found = openingDriver(lacks);
  const gpus = found?.gpus ?? [];
  const wheels = (found?.cuda ?? 13_000) >= 13_000 ? '' : '-cu12';
  const library = (name: CudaLibraryName, wheel: string, isFatal: boolean, version: () => string): CudaLibrary[] => {
    try {
      return [{ name, version: version(), path: findLibrary(name, roots)[0] ?? null }];
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const remedy = installing([wheel]);
      lacks.push({ what: name, reason, remedy, wheel, isFatal });
      return [];
    }
  };
  const libraries = [
    ...library('nvrtc', `nvidia-cuda-nvrtc${wheels}`, true, () => compileProbe(roots)),
    ...library('cublasLt', `nvidia-cublas${wheels}`, true, () =>
      threeNumbers(openCublasLt(roots).cublasLtGetVersion()),
    ),
    ...library('cudnn', `nvidia-cudnn-cu${wheels === '' ? 13 : 12}`, false, () => cudnnVersion(roots)),
  ];
  return { driver: found === null ? null : twoNumbers(found.cuda), gpus, libraries, lacks };
}

/** GPUs that can be used: with everything that is needed, and recent enough. */
export function usableGpus({ gpus, lacks }: CudaSurvey): readonly GpuInfo[] {
  return lacks.some(({ isFatal }) => isFatal) ? [] : gpus.filter(({ capability }) => isRecent(capability));
}

/** Why a GPU cannot be used, and what to do; null where it can. */
export function whyUnusable(survey: CudaSurvey, ordinal: number): string | null {
  const fatal = survey.lacks.filter(({ isFatal }) => isFatal);
  if (fatal.length > 0)
    return `${fatal.map(({ what, reason }) => `${what}: ${reason}`).join(' · ')}; ${describeRemedies(fatal)}`;
  const gpu = survey.gpus[ordinal];
  if (gpu === undefined)
    return `there ${survey.gpus.length === 1 ? 'is one GPU' : `are ${survey.gpus.length} GPUs`}, counted from 0; give one of them`;
  const { major, minor } = gpu.capability;
  if (isRecent(gpu.capability)) return null;
  return `${gpu.name} has compute capability ${major}.${minor}, the kernels need ${oldestCapability.major}.${oldestCapability.minor} or newer; use --device cpu`;
}

/** What gets everything that is missing, the packages of pip in one command; empty where nothing is missing. */
export function describeRemedies(lacks: readonly CudaLack[]): string {
  const wheels = lacks.flatMap(({ wheel }) => wheel ?? []);
  const others = lacks.flatMap(({ wheel, remedy }) => (wheel === undefined ? remedy : []));
  const libraries = wheels.length === 0 ? [] : [installing(wheels)];
  return [...new Set([...others, ...libraries])].join('; ');
}

function installing(wheels: readonly string[]): string {
  return `pip install ${wheels.join(' ')}, or install the CUDA toolkit and set CUDA_HOME`;
}

interface FoundDriver {
  readonly cuda: number;
  readonly gpus: readonly GpuInfo[];
}

function openingDriver(lacks: CudaLack[]): FoundDriver | null {
  const remedy = 'install the NVIDIA driver (apt-get install nvidia-driver) and restart';
  const lack = (what: 'driver' | 'gpu', reason: string) => {
    lacks.push({ what, reason, remedy, isFatal: true });
    return null;
  };
  let driver: Driver;
  try {
    driver = openDriver();
  } catch (error) {
    return lack('driver', error instanceof Error ? error.message : String(error));
  }
  const code = driver.cuInit(0);
  if (code !== 0) return lack('gpu', `cuInit failed with ${code}: ${describeResult(driver, code)}`);
  const word = new Int32Array(1);
  driver.cuDriverGetVersion(word);
  const cuda = firstOf(word);
  driver.cuDeviceGetCount(word);
  const gpus = Array.from({ length: firstOf(word) }, (_, ordinal) => describeGpu(driver, ordinal));
  if (gpus.length === 0) lack('gpu', 'the driver lists no GPU');
  return { cuda, gpus };
}

function describeGpu(driver: Driver, ordinal: number): GpuInfo {
  const word = new Int32Array(1);
  driver.cuDeviceGet(word, ordinal);
  const device = firstOf(word);
  const text = new Uint8Array(256);
  driver.cuDeviceGetName(text, text.length, device);
  const attribute = (which: number) => {
    driver.cuDeviceGetAttribute(word, which, device);
    return firstOf(word);
  };
  const bytes = new BigUint64Array(1);
  driver.cuDeviceTotalMem(bytes, device);
  return {
    ordinal,
    name: Buffer.from(text.subarray(0, text.indexOf(0))).toString('utf8'),
    capability: {
      major: attribute(CUdevice_attribute.COMPUTE_CAPABILITY_MAJOR),
      minor: attribute(CUdevice_attribute.COMPUTE_CAPABILITY_MINOR),
    },
    totalBytes: firstOf(bytes),
  };
}

/** Compiles a kernel, since an NVRTC without its builtins opens and then fails; gives the version. */
function compileProbe(roots: readonly string[]): string {
  const compiler = createCompiler(openNvrtc(roots));
  const source = 'extern "C" __global__ void probe(float* x) { x[threadIdx.x] += 1.0f; }';
  compiler.compile({ file: 'probe.cu', source, headers: [] }, ['--gpu-architecture=sm_80']);
  return compiler.version.replace('nvrtc ', '');
}

function cudnnVersion(roots: readonly string[]): string {
  const version = openCudaLibrary('cudnn', roots, [9]).declare('cudnnGetVersion', 'size_t', []);
  const number = Number(version());
  return `${Math.floor(number / 10_000)}.${Math.floor(number / 100) % 100}.${number % 100}`;
}

/** 13000 as `13.0`. */
function twoNumbers(version: number): string {
  return `${Math.floor(version / 1000)}.${Math.floor((version % 1000) / 10)}`;
}

/** 130100 as `13.1.0`. */
function threeNumbers(version: number): string {
  return `${Math.floor(version / 10_000)}.${Math.floor(version / 100) % 100}.${version % 100}`;
}
