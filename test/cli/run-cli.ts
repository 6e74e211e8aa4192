// Runs the built command line as a child process, in a folder of its own.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { root } from '../architecture/source-tree.js';
import { smallCheckpoint } from '../small-checkpoint.js';

export const main = join(root, 'dist/cli/main.js');

/** What a run of the command line gave. */
export interface CliRun {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Called with the process as soon as it runs. */
  readonly onStart?: (child: ChildProcess) => void;
  /** Another program in front, as `bash -c`. */
  readonly through?: (command: readonly string[]) => readonly string[];
}

/** A folder that is removed when the file's tests are over. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-cli-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs `orrery ARGS` to its end. The environment has no settings of the machine's user; the model is a small one. */
export function runCli(args: readonly string[], { cwd, env = {}, onStart, through }: CliOptions): Promise<CliRun> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(ORRERY|HF|VITEST|NODE_)/.test(name));
  const plain = [process.execPath, main, ...args];
  const [program = '', ...rest] = through === undefined ? plain : through(plain);
  return new Promise((resolve, reject) => {
    const child = spawn(program, rest, {
      cwd,
      env: {
        ...Object.fromEntries(inherited),
        NO_COLOR: '1',
        HF_HUB_OFFLINE: '1',
        HF_HOME: cwd,
        ORRERY_MODEL: smallCheckpoint,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
    onStart?.(child);
  });
}

/** Lines of stderr that are no progress. */
export function complaints({ stderr }: CliRun): readonly string[] {
  return stderr.split('\n').filter((line) => line !== '' && !line.startsWith('denoise '));
}

/** Whatever a folder holds, hidden files included. */
export function filesIn(folder: string): readonly string[] {
  return readdirSync(folder).sort();
}
