// Opens a checkpoint for the denoise policy. Everything that is wrong with it is said before a device is asked for.
import type { Quantization } from '../../models/cosmos3-transformer/index.js';
import { RequestError } from '../../protocol/index.js';
import { type EngineConfig, readConfig } from '../config.js';
import { type DeviceDtype, type GpuChoices, openDevice } from '../loader.js';
import { Cosmos3Video, type Quant } from './cosmos3-video.js';
import { findCheckpoint } from './files/find-checkpoint.js';
import { openTransformer } from './files/open-transformer.js';
import { readTransformerShape } from './files/transformer-shape.js';
import { detectHardware, type Hardware } from './hardware.js';
import { refuseUnknown } from './refuse-unknown.js';

export interface LoadModelOptions {
  /** The only one there is, and the default. */
  readonly config?: 'cosmos3_video' | undefined;
  /** `orrery`, the default; `torch` is taken for the same, since callers of the original write it. */
  readonly framework?: 'orrery' | 'torch' | undefined;
  /** `auto` (the default), `cpu`, `cuda`, `cuda:N`, or an architecture that must be there, as `rtx_sm120`. */
  readonly hardware?: string | undefined;
  /** FP8 linears. Where absent: on a GPU that has them. `true` on other hardware is refused; `false` means 16 bits there, 32 on the CPU. */
  readonly useFp8?: boolean | undefined;
  /** Layers, projections, towers and steps that FP8 leaves out. */
  readonly quantization?: Omit<Quantization, 'format'> | undefined;
  /** What networks compute in on a GPU beside FP8; `bf16` where absent. */
  readonly dtype?: DeviceDtype | undefined;
  /** How a GPU computes. */
  readonly gpu?: GpuChoices | undefined;
  /** Threads of the CPU device; all cores where absent. */
  readonly threads?: number | undefined;
  /** Folders that CUDA's libraries are sought in before all others. */
  readonly cudaLibraries?: readonly string[] | undefined;
  /** Told what is no error but should be known; Node's own warnings where absent. */
  readonly onWarning?: ((message: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Settings to use instead of the environment's. */
  readonly environment?: EngineConfig | undefined;
}

const optionNames: readonly (keyof LoadModelOptions)[] = [
  'config',
  'framework',
  'hardware',
  'useFp8',
  'quantization',
  'dtype',
  'gpu',
  'threads',
  'cudaLibraries',
  'onWarning',
  'signal',
  'environment',
];

/**
 * Loads a model.
 * @param path flat weights or a checkpoint in the diffusers layout: a file, a folder, or a repository id
 * @throws RequestError for options that do not fit each other or this machine; CheckpointError, ConfigError, HubError or
 *   IncompleteFileError for the checkpoint
 */
export async function loadModel(path: string, options: LoadModelOptions = {}): Promise<Cosmos3Video> {
  refuseUnknown('loadModel', options, optionNames);
  const { config, framework, threads, dtype, cudaLibraries = [], quantization, signal } = options;
  requireOneOf('config', config, ['cosmos3_video']);
  requireOneOf('framework', framework, ['orrery', 'torch']);
  if (typeof path !== 'string' || path === '')
    throw new RequestError('missing_parameter', 'checkpoint', 'loadModel needs the path of a checkpoint');
  const settings = options.environment ?? readConfig();
  const environment = { ...settings, libraryRoots: [...cudaLibraries, ...settings.libraryRoots] };
  const onWarning = options.onWarning ?? ((message) => process.emitWarning(message, 'OrreryWarning'));
  const hardware = detectHardware(options.hardware, environment);
  const usesFp8 = decideFp8(hardware, options);
  const file = openTransformer(await findCheckpoint(path, environment, signal));
  try {
    const shape = readTransformerShape(file);
    const wide: Quant = hardware.device === 'cpu' ? 'f32' : (dtype ?? environment.dtype ?? 'bf16');
    if (!usesFp8 && options.useFp8 !== false && dtype === undefined)
      onWarning(`${hardware.name} has no FP8: computing in ${wide === 'f32' ? 'float32' : 'bfloat16'}`);
    if (options.useFp8 === false && wide === 'f32' && hardware.device === 'cpu')
      onWarning(`${hardware.name} computes in float32, wider than bfloat16`);
    return new Cosmos3Video({
      file,
      shape,
      hardware: hardware.name,
      quant: usesFp8 ? 'fp8' : wide,
      quantization: usesFp8 ? { ...quantization, format: 'fp8' } : null,
      onWarning,
      openDevice: () =>
        openDevice(hardware.device, {
          threads: threads ?? environment.threads,
          blas: environment.blas,
          dtype: dtype ?? environment.dtype,
          libraryRoots: environment.libraryRoots,
          kernelCache: environment.kernelCache,
          gpu: options.gpu,
        }),
    });
  } catch (error) {
    file[Symbol.dispose]();
    throw error;
  }
}

function requireOneOf(name: string, value: string | undefined, known: readonly string[]): void {
  if (value === undefined || known.includes(value)) return;
  throw new RequestError('invalid_value', name, `${name} ${value} is unknown; there is ${known.join(' and ')}`);
}

function decideFp8(hardware: Hardware, { useFp8, dtype, quantization }: LoadModelOptions): boolean {
  if (useFp8 === true && !hardware.hasFp8)
    throw new RequestError(
      'unsupported',
      'use_fp8',
      `FP8 needs an NVIDIA GPU of compute capability 8.9 or newer, this is ${hardware.name}: leave it out, or ask for wide precision (useFp8: false, --bf16)`,
    );
  if (useFp8 === true && dtype !== undefined)
    throw new RequestError('conflict', 'dtype', `dtype ${dtype} and FP8 exclude each other; give one of them`);
  const uses = useFp8 ?? (hardware.hasFp8 && dtype === undefined);
  if (!uses && quantization !== undefined)
    throw new RequestError(
      'conflict',
      'quantization',
      'quantization says what FP8 leaves out, and nothing is FP8 here',
    );
  return uses;
}
