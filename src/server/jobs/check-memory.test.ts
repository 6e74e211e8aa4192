import { totalmem } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { Supervisor, WorkerState } from '../../engine/jobs/types.js';
import { Planner, type PlannerOptions } from '../../engine/planner/planner.js';
import { availableMemory, checkMemory } from './check-memory.js';

const gib = 2 ** 30;

/** A supervisor of one device. */
function supervise(memory: Partial<WorkerState>): Supervisor {
  const worker: WorkerState = {
    device: 'cuda:0',
    name: 'A GPU',
    memoryBytes: null,
    freeBytes: null,
    servesFp8: true,
    status: 'idle',
    pid: 1,
    jobId: null,
    restarts: 0,
    lastCrash: null,
    residentBytes: 0,
    ...memory,
  };
  return { workers: [worker], start() {}, ready: async () => undefined, drain: async () => undefined };
}

/** 720p and 189 frames on Nano's size. */
async function plan(options: PlannerOptions) {
  const planner = await Planner.open({ synthetic: 'nano', device: 'cuda:0', ...options });
  const planned = await planner.plan({ fields: { prompt: 'A ball.', guidance_scale: 1 }, extra: {} });
  return {
    planner,
    planned,
    check: (memory: Partial<WorkerState>) => checkMemory({ planner, supervisor: supervise(memory) }, planned, 64 * gib),
  };
}

describe('the memory check of a GPU', () => {
  it("goes by the GPU's estimate and what was free when it was opened", async () => {
    const { planned, check } = await plan({});
    const need = planned.estimate.memoryBytes;
    expect(need / gib).toBeGreaterThan(35);
    expect(need / gib).toBeLessThan(40);
    expect(() => check({ memoryBytes: 80 * gib, freeBytes: need })).not.toThrow();
    expect(() => check({ memoryBytes: 80 * gib, freeBytes: need - 1 })).toThrow(
      /^size 1280x720 with 189 frames needs about/,
    );
    expect(() => check({ memoryBytes: need })).not.toThrow();
    // Nobody knows before it is open; the job itself would tell.
    expect(() => check({})).not.toThrow();
  });

  it('names flags of the server with which the job would fit', async () => {
    const { check } = await plan({});
    expect(() => check({ freeBytes: 28 * gib })).toThrow(
      /A GPU has 28\.0 GiB to spare; ask for a smaller size or fewer frames, or start with --release-text-tower, which takes about 2\d\.\d GiB$/,
    );
    expect(() => check({ freeBytes: 20 * gib })).toThrow('or start with --enable-layerwise-offload, which');
    expect(() => check({ freeBytes: 1 * gib })).toThrow(/or fewer frames$/);
  });

  it('follows the flags of the server', async () => {
    const of = async (memory: PlannerOptions['memory'] & {}) => (await plan({ memory })).planned.estimate;
    const [plain, text, all, eight] = [
      await of({}),
      await of({ offload: ['und'] }),
      await of({ offload: ['und', 'gen'] }),
      await of({ quantization: { format: 'fp8' } }),
    ];
    const layer = 385_875_968;
    expect(plain.memoryBytes - text.memoryBytes).toBe(34 * layer);
    expect(plain.memoryBytes - all.memoryBytes).toBe(70 * layer);
    expect(text.hostMemoryBytes).toBe(36 * layer);
    expect(plain.memoryBytes - eight.memoryBytes).toBe(72 * (layer - 193_093_632));
  });
});

it("the memory check of the CPU goes by the machine's", async () => {
  const { planner, planned } = await plan({ device: 'cpu' });
  const context = { planner, supervisor: supervise({ memoryBytes: 1, freeBytes: 1 }) };
  expect(availableMemory(context)).toBe(totalmem());
  const of = (memoryBytes: number) => ({ ...planned, estimate: { ...planned.estimate, memoryBytes } });
  expect(() => checkMemory(context, of(totalmem()))).not.toThrow();
  expect(() => checkMemory(context, of(2 * totalmem()))).toThrow(
    /^size 1280x720 with 189 frames needs about [\d.]+ GiB of memory, this machine has [\d.]+ GiB; ask for a smaller size/,
  );
});
