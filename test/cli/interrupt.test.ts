// Ctrl-C and full disks: the right code, one line, and no file left behind.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { complaints, filesIn, runCli, temporaryFolder } from './run-cli.js';

const folder = temporaryFolder();

function emptyFolder(name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}

describe('Ctrl-C', { timeout: 90_000 }, () => {
  test.concurrent.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s stops between steps', async (signal, code) => {
    const cwd = emptyFolder(signal);
    const args = [
      'generate',
      'x',
      '--size',
      '128x128',
      '--num-frames',
      '17',
      '--num-inference-steps',
      '200',
      '--json',
      '-o',
      'x.mp4',
    ];
    const run = await runCli(args, {
      cwd,
      onStart: (child) => {
        let isSent = false;
        child.stdout?.on('data', (text: string) => {
          if (isSent || !text.includes('"type":"step"')) return;
          isSent = true;
          child.kill(signal);
        });
      },
    });
    expect(run.code).toBe(code);
    expect(complaints(run)).toEqual(['stopping after this step; press Ctrl-C again to leave at once', 'stopped']);
    const steps = run.stdout.split('\n').filter((line) => line.includes('"type":"step"'));
    expect(steps.length).toBeGreaterThan(0);
    expect(steps.length).toBeLessThan(150);
    expect(run.stdout).not.toContain('"type":"artifact"');
    expect(filesIn(cwd)).toEqual([]);
  });

  test('a second one leaves at once', async () => {
    const cwd = emptyFolder('twice');
    const args = [
      'generate',
      'x',
      '--size',
      '128x128',
      '--num-frames',
      '17',
      '--num-inference-steps',
      '200',
      '--json',
      '-o',
      'x.mp4',
    ];
    const run = await runCli(args, {
      cwd,
      onStart: (child) => {
        let count = 0;
        child.stdout?.on('data', (text: string) => {
          if (count === 0 && text.includes('"type":"step"')) child.kill('SIGINT');
          if (text.includes('"type":"step"')) count++;
        });
        child.stderr?.on('data', (text: string) => {
          if (text.includes('stopping')) child.kill('SIGINT');
        });
      },
    });
    expect(run.code).toBe(130);
    expect(filesIn(cwd)).toEqual([]);
  });
});

/** Puts a command into a world where the folder `full` has room for 64 KiB, with a private mount or, failing that, a file size limit. */
function onFullDisk(command: readonly string[]): readonly string[] {
  const quoted = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  const mount = 'mount -t tmpfs -o size=64k none full';
  const canMount = spawnSync('unshare', ['-rm', 'sh', '-c', 'mount -t tmpfs none /mnt']).status === 0;
  return canMount
    ? ['unshare', '-rm', 'sh', '-c', `${mount} && ${quoted}; code=$?; ls -A full >&2; exit $code`]
    : ['bash', '-c', `ulimit -f 16; ${quoted}; code=$?; ls -A full >&2; exit $code`];
}

describe('a disk that fills', { timeout: 90_000 }, () => {
  test.concurrent.each(['mp4', 'png', 'wav', 'safetensors'])('while writing .%s', async (kind) => {
    const cwd = emptyFolder(`disk-${kind}`);
    mkdirSync(join(cwd, 'full'));
    const size = ['--size', '256x192', '--num-inference-steps', '1', '--num-frames', kind === 'mp4' ? '9' : '1'];
    // 16 channels of latents at 512x512 take more than the folder has.
    const large = kind === 'safetensors' ? ['--size', '768x768', '--num-frames', '5'] : [];
    const args = [
      'generate',
      'x',
      ...size,
      ...large,
      ...(kind === 'wav' ? ['--sound', '--sound-duration', '2'] : []),
      '-o',
      `full/x.${kind}`,
    ];
    const run = await runCli(args, { cwd, through: onFullDisk });
    expect(complaints(run)).toHaveLength(1);
    expect(complaints(run)[0]).toMatch(new RegExp(`^error: Cannot write full/x\\.${kind}: no space left`));
    expect(run.code).toBe(1);
    expect(run.stdout).toBe('');
    expect(filesIn(join(cwd, 'full'))).toEqual([]);
  });
});
