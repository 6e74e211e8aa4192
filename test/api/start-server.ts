// Starts the built server as a child process, in a folder of its own, and waits until it answers.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../architecture/source-tree.js';

const main = join(root, 'dist/cli/main.js');

/** A server that runs. */
export interface StartedServer {
  readonly url: string;
  readonly pid: number;
  /** Its folder: the store is in `store`. */
  readonly folder: string;
  /** Log lines so far. */
  log(): readonly Readonly<Record<string, unknown>>[];
  /** Ends it with SIGTERM, or another signal. Gives the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Ends it and removes its folder. */
  [Symbol.asyncDispose](): Promise<void>;
}

export interface ServerOptions {
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A folder that is kept; a temporary one where absent. */
  readonly folder?: string;
  /** Does not wait for the device. */
  readonly isHasty?: boolean;
}

/** Starts `orrery serve` on a free port. @throws Error with what it wrote when it does not come up within a minute */
export async function startServer({
  flags = [],
  env = {},
  folder,
  isHasty = false,
}: ServerOptions = {}): Promise<StartedServer> {
  const place = folder ?? mkdtempSync(join(tmpdir(), 'orrery-api-'));
  const inherited = Object.entries(process.env).filter(([name]) => !/^(ORRERY|HF|VITEST|NODE_)/.test(name));
  const child = spawn(
    process.execPath,
    [main, 'serve', '--port', '0', '--storage-path', join(place, 'store'), ...flags],
    {
      cwd: place,
      env: { ...Object.fromEntries(inherited), HF_HUB_OFFLINE: '1', HF_HOME: place, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const output = collect(child);
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  const url = await within(
    60_000,
    () => addressIn(output.lines()),
    () => child.exitCode !== null,
    output.text,
  );
  if (!isHasty) {
    await within(
      60_000,
      () => output.lines().find(({ msg }) => msg === 'device is ready'),
      () => child.exitCode !== null,
      output.text,
    );
  }
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return ended;
  };
  return {
    url,
    pid: child.pid ?? 0,
    folder: place,
    log: output.lines,
    stop,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) await stop();
      if (folder === undefined) rmSync(place, { recursive: true, force: true });
    },
  };
}

function collect(child: ChildProcess) {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
  }
  const lines = (): readonly Readonly<Record<string, unknown>>[] =>
    text.split('\n').flatMap((line) => (line.startsWith('{') && line.endsWith('}') ? [JSON.parse(line)] : []));
  return { text: () => text, lines };
}

function addressIn(lines: readonly Readonly<Record<string, unknown>>[]): string | undefined {
  const url = lines.find(({ msg }) => msg === 'server listens')?.url;
  return typeof url === 'string' ? url : undefined;
}

async function within<T>(
  limitMs: number,
  look: () => T | undefined,
  isDead: () => boolean,
  text: () => string,
): Promise<T> {
  const end = Date.now() + limitMs;
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    if (isDead() || Date.now() > end) throw new Error(`the server did not come up:\n${text()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
