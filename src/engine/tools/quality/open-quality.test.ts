// On the CPU, with random weights: what is measured without a GPU, and the way of reduced precisions through a device that has eight
// bits but computes in plain loops.
import { describe, expect, it } from 'vitest';
import { createOracle } from '../../../../test/backend/oracle.js';
import { openModel } from '../../checkpoint/open-model.js';
import { readConfig } from '../../config.js';
import { openDevice } from '../../loader.js';
import { describeQuality } from './describe-quality.js';
import { measureQuality } from './measure-quality.js';
import { openQuality } from './open-quality.js';
import { type Quality, type QualityDevices, standardJob } from './quality.js';

const config = { ...readConfig({}), threads: 1, blas: 'off' };
const model = 'test/golden/data/tiny-nano';
const small = { prompts: 2, width: 32, height: 32, frames: 5, steps: 9 };

function rowOf({ rows }: Quality, variant: string, against = 'f32') {
  const row = rows.find((candidate) => candidate.variant === variant && candidate.against === against);
  if (row === undefined) throw new Error(`no row of ${variant} against ${against}`);
  return row;
}

describe('openQuality', () => {
  it('measures skipped steps on the CPU, and float32 repeats itself bit by bit', async () => {
    const told: string[] = [];
    const quality = await openQuality(
      { model, device: 'cpu', job: small, onProgress: (what) => told.push(what) },
      config,
    );
    expect(quality).toMatchObject({ model: 'tiny-nano', tested: null, leftOut: [], passed: 5, failed: 0 });
    const exact = rowOf(quality, 'f32');
    expect(exact.frames).toEqual({ mean: null, min: null, frames: 10, identical: 10 });
    expect(exact.latents).toMatchObject({ relativeL2: 0, worstRelativeL2: 0 });
    expect(exact.latents?.cosine).toBeCloseTo(1, 12);
    expect(exact.velocities?.worstStep).toBeCloseTo(1, 12);

    const held = rowOf(quality, 'f32-skip-3-5-7-hold');
    expect(held.latents?.cosine).toBeCloseTo(0.99979, 4);
    expect(held.latents?.relativeL2).toBeCloseTo(0.02023, 4);
    expect(held.frames?.mean).toBeCloseTo(43.78, 0);
    expect(held.velocities?.steps.map((cosine) => cosine === null)).toEqual(
      [0, 1, 2, 3, 4, 5, 6, 7, 8].map((step) => ![3, 5, 7].includes(step)),
    );
    expect(held.velocities?.steps[7]).toBeCloseTo(0.99632, 4);
    expect(rowOf(quality, 'f32-skip-3-5-7-extrapolate').latents?.relativeL2).toBeCloseTo(0.00441, 4);
    expect(rowOf(quality, 'f32-skip-2-4-6-8-hold').latents?.relativeL2).toBeCloseTo(0.06145, 4);
    expect(rowOf(quality, 'f32-skip-2-4-6-8-extrapolate').latents?.relativeL2).toBeCloseTo(0.02293, 4);

    const lines = describeQuality(quality);
    expect(lines[0]).toBe('tiny-nano: 2 prompts, 32x32, 5 frames, 9 steps, shift 10, guidance 1');
    expect(lines.find((line) => line.startsWith('f32 '))).toMatch(
      /^f32 +f32 +exact +exact +1\.00000 +1\.00000 +0\.000/,
    );
    expect(lines).toContain('pass  f32: repeated, latent relative L2 0 <= 0');
    expect(lines.at(-1)).toBe('5 passed, 0 failed');
    expect(told.at(-1)).toMatch(/^f32, .*: prompt 2 of 2$/);
    expect(JSON.parse(JSON.stringify(quality))).toEqual(quality);
  });

  it('refuses what it cannot do', async () => {
    const open = (options: Parameters<typeof openQuality>[0]) =>
      openQuality({ model, device: 'cpu', ...options }, config);
    await expect(open({ reference: 'cuda' })).rejects.toThrow('--reference cuda needs a GPU');
    await expect(open({ job: { prompts: 17 } })).rejects.toThrow('prompts is 17; there are 16');
    await expect(open({ only: ['bf16'] })).rejects.toThrow('variant bf16 is not measured here');
    await expect(open({ size: '0x3' })).rejects.toThrow('size must have a positive width and height, got 0x3');
    await expect(open({ job: { ...small, steps: 7 } })).rejects.toThrow(
      'num_inference_steps is 7, and f32-skip-3-5-7-hold skips step 7, counted from 0: give at least 8',
    );
  });
});

describe('measureQuality', () => {
  const openCpu = () => openDevice('cpu', { threads: 1, blas: 'off' });
  const openLoops = async () => ({ backend: createOracle(), cuda: null, name: 'loops' });
  const measure = async (devices: QualityDevices, only?: readonly string[]) => {
    const { checkpoint, facts } = await openModel({ model }, config);
    using _opened = checkpoint;
    const job = { ...standardJob, ...small, prompts: 1, frames: 1 };
    return await measureQuality({ checkpoint, facts, job, devices, only });
  };

  it('holds reduced precisions against float32 of another device, and skipped steps against their own precision too', async () => {
    const quality = await measure({ openReference: openCpu, openWitness: null, openTested: openLoops }, [
      'bf16',
      'bf16-decode',
      'fp8',
      'fp8-skip-3-5-7-hold',
      'fp8-wide',
    ]);
    expect(quality.tested).toBe('loops');
    expect(quality.rows.map(({ variant, against }) => `${variant} ${against}`)).toEqual([
      'bf16 f32',
      'bf16-decode f32',
      'fp8 f32',
      'fp8-skip-3-5-7-hold f32',
      'fp8-skip-3-5-7-hold fp8',
      'fp8-wide f32',
    ]);
    // The loops sum in float64 and round to float32: what stands for bf16 here is float32 once more, to its last digits.
    expect(rowOf(quality, 'bf16').latents?.relativeL2).toBeLessThan(1e-5);
    expect(rowOf(quality, 'bf16-decode')).toMatchObject({ latents: null, velocities: null });
    const fp8 = rowOf(quality, 'fp8');
    expect(fp8.latents?.relativeL2).toBeCloseTo(0.0516, 3);
    expect(fp8.velocities?.steps[0]).toBeCloseTo(0.99737, 4);
    expect(rowOf(quality, 'fp8-skip-3-5-7-hold', 'fp8').latents?.relativeL2).toBeCloseTo(0.0293, 3);
    // Wide steps are the first and the last alone: between them the velocities of equal inputs are equal.
    const wide = rowOf(quality, 'fp8-wide').velocities?.steps ?? [];
    expect(wide.slice(1, 8)).toEqual(fp8.velocities?.steps.slice(1, 8));
    expect(wide[8]).toBeGreaterThan(fp8.velocities?.steps[8] ?? 1);
    expect(quality.bars.map(({ variant }) => variant)).toEqual([
      'bf16',
      'bf16',
      'bf16',
      'fp8',
      'fp8',
      'fp8',
      'fp8-skip-3-5-7-hold',
      'fp8-skip-3-5-7-hold',
    ]);
  });

  it('holds a reference that is not the CPU against it', async () => {
    const quality = await measure({ openReference: openLoops, openWitness: openCpu, openTested: openLoops }, ['f32']);
    const [witness] = quality.bars;
    expect(witness).toMatchObject({ variant: 'reference', limit: 1e-4, passed: true });
    expect(witness?.value).toBeGreaterThan(0);
    expect(witness?.value).toBeLessThan(2e-6);
    expect(quality).toMatchObject({ reference: 'loops', tested: null, passed: 2, failed: 0 });
  });

  it('leaves eight bits out where the device has none, unless they are named', async () => {
    const dense = async () => ({ ...(await openCpu()), name: 'no eight bits' });
    const devices = { openReference: openCpu, openWitness: null, openTested: dense };
    const quality = await measure(devices);
    expect(quality.leftOut).toEqual([
      'fp8: no eight bits has no products in eight bits',
      'fp8-wide: no eight bits has no products in eight bits',
    ]);
    expect(new Set(quality.rows.map(({ variant }) => variant.slice(0, 4)))).toEqual(new Set(['bf16']));
    await expect(measure(devices, ['fp8'])).rejects.toThrow('fp8');
  });
});
