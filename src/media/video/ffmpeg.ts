// The ffmpeg program: finding it, asking its version, running it as a child process.
import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { errorCode, MediaError } from '../media-error.js';

/** A program that has answered `-version`. */
export interface Ffmpeg {
  readonly path: string;
  /** Named by the caller, found on the search path, or the optional package of this project. */
  readonly origin: 'given' | 'system' | 'bundled';
  /** As the program says it, e.g. `5.1.9-0+deb12u1`. */
  readonly version: string;
  /** Major release, or null for a build without a release number. */
  readonly major: number | null;
}

/** What every function that runs ffmpeg accepts: without `ffmpeg`, one is looked for at each call. */
export interface FfmpegOptions {
  readonly ffmpeg?: Ffmpeg | undefined;
}

const remedy =
  'Install it (Debian: apt-get install ffmpeg; macOS: brew install ffmpeg; or npm install @ffmpeg-installer/ffmpeg).';

/**
 * Finds ffmpeg: `path` if given, else the system's, else the one of the optional package @ffmpeg-installer/ffmpeg.
 * Throws MediaError `ffmpeg_missing` if none runs.
 */
export async function findFfmpeg(options: { readonly path?: string | undefined } = {}): Promise<Ffmpeg> {
  if (options.path !== undefined) {
    const version = await askVersion(options.path);
    if (version === null) throw new MediaError('ffmpeg_missing', `No ffmpeg runs at ${options.path}. ${remedy}`);
    return describe(options.path, 'given', version);
  }
  const system = await askVersion('ffmpeg');
  if (system !== null) return describe('ffmpeg', 'system', system);
  const bundled = bundledPath();
  const version = bundled === null ? null : await askVersion(bundled);
  if (bundled === null || version === null) throw new MediaError('ffmpeg_missing', `ffmpeg was not found. ${remedy}`);
  return describe(bundled, 'bundled', version);
}

/** Whether uploads of strangers may be given to this build: a release that is still maintained, 5 or newer. */
export function isFitForUploads(ffmpeg: Ffmpeg): boolean {
  return ffmpeg.origin !== 'bundled' && ffmpeg.major !== null && ffmpeg.major >= 5;
}

/**
 * Whether the build knows `-fps_mode` (release 5.1 of 2022) rather than `-vsync`, which newer ones give up. Builds
 * without a release number are told by their count of commits or their date.
 */
export function hasFpsMode({ major, version }: Ffmpeg): boolean {
  if (major !== null) return major >= 6;
  const commits = /^N-(\d+)/.exec(version)?.[1];
  const year = /^(20\d\d)-\d\d-\d\d/.exec(version)?.[1];
  return commits === undefined ? Number(year ?? 0) >= 2023 : Number(commits) >= 108000;
}

/** Path of the optional package's program, or null where it is not installed or has none for this platform. */
export function bundledPath(): string | null {
  try {
    const installer: unknown = createRequire(import.meta.url)('@ffmpeg-installer/ffmpeg');
    const path = typeof installer === 'object' && installer !== null && 'path' in installer ? installer.path : null;
    return typeof path === 'string' ? path : null;
  } catch {
    return null;
  }
}

function describe(path: string, origin: Ffmpeg['origin'], version: string): Ffmpeg {
  const major = /^n?(\d+)\./.exec(version)?.[1];
  return { path, origin, version, major: major === undefined ? null : Number(major) };
}

/** A running ffmpeg: its process, what it has said, and its end. */
export interface FfmpegRun {
  readonly child: ChildProcess;
  /** Standard error so far, the last 64 KiB. */
  errors(): string;
  /** Settles when the process has ended and its pipes are closed. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** Ends the process at once. */
  kill(): void;
}

const keptErrors = 65536;

/**
 * Starts ffmpeg with standard input and output as pipes and `extraPipes` more of them from descriptor 3 on.
 * Standard input is closed unless `input`. `signal` kills the process.
 */
export function startFfmpeg(
  ffmpeg: Ffmpeg,
  args: readonly string[],
  options: { readonly input?: boolean; readonly extraPipes?: number; readonly signal?: AbortSignal | undefined } = {},
): FfmpegRun {
  const extra = Array.from({ length: options.extraPipes ?? 0 }, () => 'pipe' as const);
  const child = spawn(ffmpeg.path, ['-hide_banner', '-nostdin', ...args], {
    stdio: [options.input ? 'pipe' : 'ignore', 'pipe', 'pipe', ...extra],
    windowsHide: true,
  });
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-keptErrors);
  });
  // A pipe of a process that has ended errors; the exit code says why.
  for (const pipe of child.stdio) pipe?.on('error', () => undefined);
  const kill = (): void => {
    child.kill('SIGKILL');
  };
  options.signal?.addEventListener('abort', kill, { once: true });
  if (options.signal?.aborted) kill();
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('error', (error) => {
      errors += `${ffmpeg.path}: ${error.message}\n`;
      resolve({ code: null, signal: null });
    });
    child.once('close', (code, signal) => resolve({ code, signal }));
  }).finally(() => options.signal?.removeEventListener('abort', kill));
  return { child, errors: () => errors, ended, kill };
}

/** The lines ffmpeg complained with, joined to one, without addresses and repetitions; at most 300 characters. */
export function summarizeErrors(errors: string): string {
  const lines = errors
    .split(/[\r\n]+/)
    .map((line) => line.replace(/ ?@ 0x[0-9a-f]+/g, '').trim())
    .filter((line) => line !== '' && !/^(Conversion failed|At least one output|\s*Last message)/.test(line));
  return [...new Set(lines)].slice(-3).join('; ').slice(0, 300) || 'no reason given';
}

async function askVersion(path: string): Promise<string | null> {
  return new Promise((resolve) => {
    let output = '';
    let child: ChildProcess;
    try {
      child = spawn(path, ['-version'], { stdio: ['ignore', 'pipe', 'ignore'], windowsHide: true });
    } catch (error) {
      // A malformed path (a NUL, say) throws instead of emitting.
      if (errorCode(error) === null) throw error;
      return resolve(null);
    }
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.once('error', () => resolve(null));
    child.once('close', () => resolve(/^ffmpeg version (\S+)/.exec(output)?.[1] ?? null));
  });
}
