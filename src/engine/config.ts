// Settings of a process. The only place that reads environment variables.
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

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
  /** Where GPU libraries may lie besides the system's own folders: CUDA_HOME, CUDA_PATH, LD_LIBRARY_PATH, VIRTUAL_ENV, CONDA_PREFIX. */
  readonly libraryRoots: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings.
 * @throws RangeError when ORRERY_THREADS is no whole number above 0
 */
export function readConfig(env: Environment = process.env): EngineConfig {
  const text = (name: string) => (env[name]?.trim() ? env[name]?.trim() : undefined);
  const isOn = (name: string) => /^(1|true|yes|on)$/i.test(text(name) ?? '');
  const home = text('HF_HOME') ?? join(text('XDG_CACHE_HOME') ?? join(homedir(), '.cache'), 'huggingface');
  const roots = ['CUDA_HOME', 'CUDA_PATH', 'VIRTUAL_ENV', 'CONDA_PREFIX'].flatMap((name) => text(name) ?? []);
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
    libraryRoots: [...roots, ...(text('LD_LIBRARY_PATH')?.split(':').filter(Boolean) ?? [])],
  };
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
