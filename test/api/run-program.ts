// Programs of the system that the suite needs: curl, ffprobe, jq, python3.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What a program wrote. */
export interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. @throws Error with its output when it fails */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly timeout?: number } = {},
): Promise<Output> {
  return run(program, [...args], { timeout: 60_000, maxBuffer: 64 * 2 ** 20, ...options });
}

/** Runs a shell script that stops at its first error. */
export function runScript(script: string, cwd: string): Promise<Output> {
  return runProgram('bash', ['-euo', 'pipefail', '-c', script], { cwd });
}

/** A stream of a media file, as ffprobe says it. */
export interface Stream {
  readonly codec_type: string;
  readonly codec_name: string;
  readonly width?: number;
  readonly height?: number;
  readonly nb_read_frames?: string;
  readonly r_frame_rate?: string;
  readonly sample_rate?: string;
  readonly channels?: number;
  readonly duration?: string;
}

/** Streams of a media file; frames are counted. */
export async function probeStreams(path: string): Promise<readonly Stream[]> {
  const { stdout } = await runProgram('ffprobe', [
    '-v',
    'error',
    '-count_frames',
    '-show_streams',
    '-of',
    'json',
    path,
  ]);
  const report: { streams: Stream[] } = JSON.parse(stdout);
  return report.streams;
}
