// Settings of a process. The only place that reads environment variables.
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** What the environment sets; a caller's own options win over it. */
export interface EngineConfig {
  /** HF_TOKEN: access to private and gated repositories. */
  readonly token: string | undefined;
  /** HF_HUB_OFFLINE: never ask the network for checkpoints. */
  readonly offline: boolean;
  /** HF_HUB_CACHE, else HF_HOME/hub, else ~/.cache/huggingface/hub. */
  readonly cacheDir: string;
  /** HF_ENDPOINT: another hub. */
  readonly endpoint: string | undefined;
  /** ORRERY_MODEL: checkpoint where none is given. */
  readonly model: string | undefined;
  /** ORRERY_DEVICE: device where none is given. */
  readonly device: string | undefined;
  /** ORRERY_THREADS: threads of the CPU device; all cores where absent. */
  readonly threads: number | undefined;
  /** ORRERY_FFMPEG: path of the ffmpeg to use. */
  readonly ffmpeg: string | undefined;
  /** ORRERY_BLAS: path of an OpenBLAS, or `off` for the built-in kernels. */
  readonly blas: string | undefined;
  /** ORRERY_GUARDRAIL_URL, _MODEL, _KEY: an OpenAI-compatible endpoint that judges prompts besides the bundled word list. */
  readonly guardrailUrl: string | undefined;
  readonly guardrailModel: string | undefined;
  readonly guardrailKey: string | undefined;
  /** ORRERY_DEBUG: show stack traces. */
  readonly debug: boolean;
  /** ORRERY_DTYPE: what networks compute in on a GPU, `bf16` or `f32`. */
  readonly dtype: 'bf16' | 'f32' | undefined;
  /** ORRERY_KERNEL_CACHE: where compiled GPU kernels are kept; XDG_CACHE_HOME/orrery/kernels where absent. */
  readonly kernelCache: string;
  /**
   * Where GPU libraries may lie besides the system's own folders: ORRERY_CUDA_LIBRARIES, CUDA_HOME, CUDA_PATH, LD_LIBRARY_PATH, and
   * the packages of VIRTUAL_ENV, CONDA_PREFIX and the Python on PATH.
   */
  readonly libraryRoots: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings.
 * @throws RangeError when ORRERY_THREADS is no whole number above 0, or ORRERY_DTYPE no dtype
 */
export function readConfig(env: Environment = process.env): EngineConfig {
  const text = (name: string) => (env[name]?.trim() ? env[name]?.trim() : undefined);
  const isOn = (name: string) => /^(1|true|yes|on)$/i.test(text(name) ?? '');
  const caches = text('XDG_CACHE_HOME') ?? join(homedir(), '.cache');
  const home = text('HF_HOME') ?? join(caches, 'huggingface');
  const folders = (name: string) => text(name)?.split(':').filter(Boolean) ?? [];
  return {
    token: text('HF_TOKEN') ?? text('HUGGING_FACE_HUB_TOKEN'),
    offline: isOn('HF_HUB_OFFLINE'),
    cacheDir: resolve(expandHome(text('HF_HUB_CACHE') ?? join(home, 'hub'))),
    endpoint: text('HF_ENDPOINT'),
    model: text('ORRERY_MODEL'),
    device: text('ORRERY_DEVICE'),
    threads: readThreads(text('ORRERY_THREADS')),
    ffmpeg: text('ORRERY_FFMPEG'),
    blas: text('ORRERY_BLAS'),
    guardrailUrl: text('ORRERY_GUARDRAIL_URL'),
    guardrailModel: text('ORRERY_GUARDRAIL_MODEL'),
    guardrailKey: text('ORRERY_GUARDRAIL_KEY'),
    debug: isOn('ORRERY_DEBUG'),
    dtype: readDtype(text('ORRERY_DTYPE')),
    kernelCache: resolve(expandHome(text('ORRERY_KERNEL_CACHE') ?? join(caches, 'orrery', 'kernels'))),
    libraryRoots: [
      ...['ORRERY_CUDA_LIBRARIES', 'CUDA_HOME', 'CUDA_PATH', 'LD_LIBRARY_PATH'].flatMap(folders),
      ...['VIRTUAL_ENV', 'CONDA_PREFIX'].flatMap(folders).flatMap(packageFolders),
      ...folders('PATH')
        .filter((folder) => existsSync(join(folder, 'python3')))
        .flatMap((folder) => packageFolders(dirname(folder))),
    ],
  };
}

/** `site-packages` of a Python environment, where wheels put libraries. */
function packageFolders(environment: string): readonly string[] {
  const library = join(environment, 'lib');
  if (!existsSync(library)) return [];
  const pythons = readdirSync(library).filter((name) => /^python3(\.\d+)?$/.test(name));
  return pythons
    .flatMap((python) => ['site-packages', 'dist-packages'].map((name) => join(library, python, name)))
    .filter((folder) => existsSync(join(folder, 'nvidia')));
}

function readDtype(value: string | undefined): 'bf16' | 'f32' | undefined {
  if (value === undefined || value === 'bf16' || value === 'f32') return value;
  throw new RangeError(`ORRERY_DTYPE is ${value}; it must be bf16 or f32`);
}

function expandHome(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path;
}

function readThreads(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const threads = Number(value);
  if (Number.isInteger(threads) && threads > 0) return threads;
  throw new RangeError(`ORRERY_THREADS is ${value}; it must be a whole number above 0`);
}
