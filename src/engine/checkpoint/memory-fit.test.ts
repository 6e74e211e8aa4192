import { describe, expect, it } from 'vitest';
import { OutOfMemoryError } from '../../backend/index.js';
import { type DeviceMemoryUse, memoryUse } from './cost-config.js';
import { adviseFit, adviseOnMemory, findFit, type MemoryQuestion } from './memory-fit.js';

const gib = 2 ** 30;

/** A job of two towers of 10 GiB, 8 GiB of activations, 6 GiB more to decode whole. */
function need({ offload, quantization, tiling }: DeviceMemoryUse) {
  const tower = quantization ? 5 * gib : 10 * gib;
  const away = offload.length * tower;
  return { memoryBytes: 2 * tower - away + 8 * gib + (tiling ? 0 : 6 * gib), hostMemoryBytes: away };
}

const question = (limit: number, more: Partial<MemoryQuestion> = {}): MemoryQuestion => ({
  use: memoryUse('cuda:0'),
  limit: limit * gib,
  hostLimit: 64 * gib,
  servesFp8: true,
  need,
  ...more,
});

describe('findFit', () => {
  // One flag that fits comes before two; of one flag each, the gentlest.
  it.each([
    [29, ['--release-text-tower'], 24],
    [24, ['--release-text-tower'], 24],
    [18, ['--enable-layerwise-offload'], 14],
    [14, ['--enable-layerwise-offload'], 14],
    [8, ['--vae-use-tiling', '--enable-layerwise-offload'], 8],
  ])('names the fewest flags for %i GiB: %j', (limit, flags, bytes) => {
    expect(findFit(question(limit))).toEqual({ flags, memoryBytes: bytes * gib });
  });

  it('asks for nothing that is so already, nor for what the device or the host cannot', () => {
    const offloaded = memoryUse('cuda:0', { offload: ['und'] });
    expect(findFit(question(20, { use: offloaded }))?.flags).toEqual(['--vae-use-tiling']);
    expect(findFit(question(7))).toBeNull();
    const poor = { hostLimit: 1 * gib };
    expect(findFit(question(24, poor))?.flags).toEqual(['--quantization fp8']);
    expect(findFit(question(24, { ...poor, servesFp8: false }))).toBeNull();
    const onCpu = memoryUse('cpu');
    expect(findFit(question(28, { use: onCpu }))?.flags).toEqual(['--vae-use-tiling']);
    expect(findFit(question(27, { use: onCpu }))).toBeNull();
  });
});

it('advice is the end of a sentence', () => {
  expect(adviseFit(null)).toBe('ask for a smaller size or fewer frames');
  expect(adviseFit({ flags: ['--a', '--b'], memoryBytes: 1.5 * gib })).toBe(
    'ask for a smaller size or fewer frames, or start with --a --b, which takes about 1.5 GiB',
  );
});

describe('errors of memory', () => {
  const gpu = { totalBytes: 32 * gib, freeBytes: 30 * gib, servesFp8: true };
  const advise = (error: unknown, more: Partial<MemoryQuestion> = {}) =>
    adviseOnMemory(error, gpu, question(0, more), 64 * gib) as Error;

  it('say what the job takes, what there is, and what would fit', () => {
    const told = advise(new OutOfMemoryError(5 * gib, 1 * gib, 'x'));
    expect(told).toBeInstanceOf(OutOfMemoryError);
    expect(told.message).toBe(
      'out of memory: 5.00 GiB asked, 1.00 GiB free. This takes about 34.0 GiB, the GPU has 32.0 GiB, of which 30.0 GiB were free ' +
        'when it was opened: ask for a smaller size or fewer frames, or start with --release-text-tower, which takes about 24.0 GiB.',
    );
  });

  it('save at least what was lacking, where the estimate says that all fits', () => {
    const use = memoryUse('cuda:0', { offload: ['und'] });
    expect(advise(new OutOfMemoryError(5 * gib, 0, 'x'), { use }).message).toContain('with --vae-use-tiling,');
    expect(advise(new OutOfMemoryError(7 * gib, 0, 'x'), { use }).message).toContain(
      'with --enable-layerwise-offload,',
    );
  });

  it("of other kinds, and of the host's memory, stay as they are", () => {
    const host = new OutOfMemoryError(1, 0, 'leave it out', 'host');
    expect(advise(host)).toBe(host);
    const other = new Error('x');
    expect(advise(other)).toBe(other);
    const onCpu = new OutOfMemoryError(5 * gib, 0, 'x');
    expect(adviseOnMemory(onCpu, null, question(0))).toBe(onCpu);
  });
});
