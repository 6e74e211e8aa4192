// Options of a GPU on the command line: refused on the CPU, counted in a plan's memory without a GPU.
import { describe, expect, test } from 'vitest';
import { root } from '../architecture/source-tree.js';
import { runCli } from './run-cli.js';

const run = (...args: string[]) => runCli(args, { cwd: root });

describe('on the CPU', { timeout: 90_000 }, () => {
  test.concurrent.each([
    [
      ['--quantization', 'fp8'],
      /^error: --quantization is not available on the device cpu: it computes in 32-bit floats/,
    ],
    [['--enable-layerwise-offload'], /^error: --enable-layerwise-offload, as --release-text-tower, is not available/],
    [['--release-text-tower'], /^error: --enable-layerwise-offload, as --release-text-tower, is not available/],
    [['--fp8-attention'], /^error: --fp8-attention is not available on the device cpu/],
    [['--keep-wide'], /^error: --quantization-exclude, .* say nothing without --quantization fp8; add it/],
  ])('plan %j is refused', async (flags, message) => {
    const { stderr, code } = await run('plan', 'x', '--device', 'cpu', ...flags);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  });
});

test('a plan for a GPU counts what its options leave on it', { timeout: 90_000 }, async () => {
  const plan = async (...flags: string[]) => {
    const { stdout } = await run(
      'plan',
      'A ball.',
      '--seed',
      '1',
      '--device',
      'cuda',
      '--synthetic',
      'nano',
      '--json',
      ...flags,
    );
    const { memoryBytes, hostMemoryBytes }: { memoryBytes: number; hostMemoryBytes: number } = JSON.parse(stdout);
    return { memoryBytes, hostMemoryBytes };
  };
  const [all, text, both, eight] = [
    await plan(),
    await plan('--release-text-tower'),
    await plan('--enable-layerwise-offload'),
    await plan('--enable-layerwise-offload', '--quantization', 'fp8'),
  ];
  // A layer of one tower, of 36; in eight bits a byte an element, and a factor of four bytes a row.
  const [layer, quantized] = [385_875_968, 193_093_632];
  expect(all.hostMemoryBytes).toBe(0);
  expect(text).toEqual({ memoryBytes: all.memoryBytes - 34 * layer, hostMemoryBytes: 36 * layer });
  expect(both).toEqual({ memoryBytes: all.memoryBytes - 70 * layer, hostMemoryBytes: 72 * layer });
  expect(eight).toEqual({
    memoryBytes: both.memoryBytes - 2 * (layer - quantized),
    hostMemoryBytes: 72 * quantized,
  });
});
