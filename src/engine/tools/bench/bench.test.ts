import { describe, expect, it } from 'vitest';
import { readConfig } from '../../config.js';
import { readRequest } from '../../door/read-request.js';
import { openDevice } from '../../loader.js';
import { describeBench } from './describe-bench.js';
import { decodeFloor, type PassSizes, stepFloor, stepWork } from './floors.js';
import { benchPipeline } from './pipeline-bench.js';
import { OpTimer, ReplayTimer } from './timed-backend.js';

/** Nano: 32 and 8 heads of 128, 4096 wide, 12 288 inside. */
const nano = (rows: number, texts: readonly number[]): PassSizes => ({
  layers: 36,
  linearFlops: 2 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 12_288),
  pairFlops: 4 * 4096,
  rows,
  texts,
});

describe('floors', () => {
  // Milliseconds as the performance spec has them (M), text of 300.
  it.each([
    [1024, 23.2, 14.0],
    [5070, 137, 80],
    [44_160, 2917, 2506],
  ])('%d rows: %f ms in bfloat16, %f in FP8', (rows, bf16, fp8) => {
    const sizes = nano(rows, [300]);
    expect(Math.abs(1000 * stepFloor(sizes, 'bf16') - bf16)).toBeLessThan(bf16 * 0.006);
    expect(Math.abs(1000 * stepFloor(sizes, 'fp8') - fp8)).toBeLessThan(fp8 * 0.006);
  });

  it('count every branch', () => {
    const [one, two] = [stepWork(nano(1024, [300])), stepWork(nano(1024, [300, 1000]))];
    expect(two.linear).toBe(2 * one.linear);
    expect(two.attention).toBeGreaterThan(2 * one.attention);
    expect(decodeFloor(700e12)).toBe(1);
  });
});

describe('timers', () => {
  it('time replays, and ops one by one', async () => {
    const { backend: b } = await openDevice('cpu', { threads: 1, blas: 'off' });
    const x = b.zeros([4, 4], 'f32');
    const replays = new ReplayTimer(b, null);
    const graph = replays.backend.capture(() => b.write(x, b.add(x, x)));
    graph.replay();
    graph.replay();
    const times = replays.take();
    expect(times.deviceMs).toHaveLength(2);
    expect(times.idleMs).toEqual([0]);
    expect(Math.min(...times.hostMs)).toBeGreaterThan(0);
    expect(replays.take().deviceMs).toHaveLength(0);

    const timer = new OpTimer(b, null);
    timer.backend.capture(() => timer.backend.write(x, timer.backend.add(x, x))).replay();
    const { ops, kinds } = timer.take();
    expect(Object.keys(ops).sort()).toEqual(['add', 'write']);
    expect(kinds.elementwise).toBeCloseTo((ops.add ?? 0) + (ops.write ?? 0), 9);
    expect(kinds.gemm).toBe(0);
    graph[Symbol.dispose]();
    await b[Symbol.asyncDispose]();
  });
});

describe('a measured job', () => {
  it('tells its parts, and a table of them', async () => {
    const extra = { prompt: 'a', task: 'text-to-video', size: '64x64', num_frames: 5, num_inference_steps: 3, seed: 1 };
    const bench = await benchPipeline(
      {
        request: readRequest({ fields: {}, extra: { ...extra, guidance_scale: 2 } }),
        device: 'cpu',
        threads: 1,
        textTokens: 12,
        skipSteps: [1],
        runs: 2,
      },
      readConfig({}),
    );
    expect(bench.job).toEqual({
      task: 'text-to-video',
      width: 64,
      height: 64,
      frames: 5,
      steps: 3,
      branches: 2,
      textTokens: 12,
      visionTokens: 8,
      skippedSteps: [1],
    });
    expect(bench.step?.medianMs).toBeGreaterThan(0);
    expect(bench.ops.step?.ops.matmul).toBeGreaterThan(0);
    expect(bench.ops.decode?.kinds.convolution).toBeGreaterThan(0);
    expect(bench.floor).toBeNull();
    expect(bench.memory).toBeNull();
    const { text, prepare, denoise, decode, total } = bench.cold;
    expect(text + prepare + denoise + decode).toBeLessThanOrEqual(total * 1.01);
    const table = describeBench(bench).join('\n');
    expect(table).toContain('text-to-video, 64x64, 5 frames, 3 steps, 2 branches, 8 rows, 12 text tokens');
    expect(table).toContain('step by kind  gemm');
  });

  it('can leave single ops out, decode by tiles and keep branches apart', async () => {
    const extra = { prompt: 'a', task: 'text-to-image', size: '64x64', num_inference_steps: 1, seed: 1 };
    const bench = await benchPipeline(
      {
        request: readRequest({ fields: {}, extra: { ...extra, guidance_scale: 2 } }),
        device: 'cpu',
        threads: 1,
        ops: false,
        vaeTiling: true,
        separateBranches: true,
        runs: 1,
      },
      readConfig({}),
    );
    expect(bench.ops).toEqual({ step: null, decode: null });
    expect(bench.rates.gemm).toBeNull();
    expect(bench.step?.medianMs).toBeGreaterThan(0);
    expect(bench.warm.decode).toBeGreaterThan(0);
    expect(describeBench(bench).join('\n')).not.toContain('by kind');
  });
});
