// Recorded steps that outlive a job, on a GPU that only keeps count: what is recorded, launched and given back.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createBackendOn } from '../../src/cuda/cuda-backend.js';
import { Device } from '../../src/cuda/runtime/device.js';
import { loadNetworks } from '../../src/engine/checkpoint/load-networks.js';
import { RunCaches } from '../../src/pipeline/run-caches.js';
import { openCheckpoint } from '../../src/weights/index.js';
import { goldenFolder } from '../golden/read-case.js';
import { planOf } from '../pipeline/plan-facts.js';
import { noInputs, runPlan } from '../pipeline/run-plan.js';
import { createFakeCublasLt } from './fake-cublaslt.js';
import { createFakeDriver } from './fake-driver.js';

const small = { width: 64, height: 48, frames: 5, steps: 3, seed: 7, guidance: 3 };
const tiny = { checkpoint: { actionDim: 32 } };
const mebibyte = 2 ** 20;

function open() {
  const { driver, state } = createFakeDriver({ totalBytes: 2 ** 30 });
  const cublasLt = createFakeCublasLt({ enqueue: state.enqueue, serves: () => true, onMatmul: () => undefined });
  const compiler = { version: 'fake', compile: () => new Uint8Array(8) };
  const b = createBackendOn({ device: new Device(driver, 0), compiler, cublasLt }, { dtype: 'bf16' });
  const { networks } = loadNetworks(openCheckpoint(join(goldenFolder, 'tiny-nano')), b);
  const counted = (name: string) => state.calls.filter((call) => call === name).length;
  const graphs = () => ({
    recorded: counted('cuGraphInstantiateWithFlags'),
    launched: counted('cuGraphLaunch'),
    destroyed: counted('cuGraphExecDestroy'),
  });
  return { b, networks, graphs };
}

it('a second job of the same shape records nothing, and the end gives all memory back', async () => {
  const { b, networks, graphs } = open();
  await using _ = b;
  const start = b.report().memory.allocated;
  const caches = new RunCaches({ textBytes: 64 * mebibyte, sessions: 2, sessionBytes: 256 * mebibyte });
  const run = (changes: object) => runPlan(planOf({ ...small, ...changes }, tiny), networks, noInputs, { caches });
  await run({});
  expect(graphs()).toEqual({ recorded: 1, launched: 3, destroyed: 0 });
  await run({ prompt: 'A dog in the snow.', seed: 1, steps: 5 });
  expect(graphs()).toEqual({ recorded: 1, launched: 8, destroyed: 0 });
  await run({ skipSteps: [1] });
  expect(graphs()).toEqual({ recorded: 2, launched: 11, destroyed: 0 });
  expect(caches.sessions.use).toMatchObject({ hits: 2, misses: 1, graphs: 2 });
  const { bytes } = caches.sessions.use;
  expect(b.report().memory.allocated - start).toBeLessThan(bytes + caches.texts.use.bytes + mebibyte);
  caches[Symbol.dispose]();
  expect(graphs()).toMatchObject({ destroyed: 2 });
  expect(b.report().memory.allocated).toBe(start);
});

it('a job too large to keep throws the kept ones away before it begins, and keeps nothing itself', async () => {
  const { b, networks, graphs } = open();
  await using _ = b;
  const run = (caches: RunCaches, changes: object) =>
    runPlan(planOf({ ...small, ...changes }, tiny), networks, noInputs, { caches, skipFrames: true });
  using free = new RunCaches({ textBytes: 0, sessions: 1, sessionBytes: 256 * mebibyte });
  await run(free, {});
  const { bytes } = free.sessions.use;
  free.sessions.clear();
  using caches = new RunCaches({ textBytes: 0, sessions: 4, sessionBytes: Math.ceil(1.2 * bytes) });
  await run(caches, {});
  expect(caches.sessions.use).toMatchObject({ sessions: 1, bytes });
  await run(caches, { width: 160, height: 96 });
  expect(graphs()).toMatchObject({ recorded: 3, destroyed: 3 });
  expect(caches.sessions.use).toMatchObject({ sessions: 0, bytes: 0 });
});

it('a warm-up records what the job then launches', async () => {
  const { b, networks, graphs } = open();
  await using _ = b;
  using caches = new RunCaches({ textBytes: 64 * mebibyte, sessions: 4, sessionBytes: 256 * mebibyte });
  const plan = planOf({ ...small, steps: 4, guidanceInterval: [900, 1000], stepCache: { kind: 'seacache' } }, tiny);
  await runPlan(plan, networks, noInputs, { caches, isWarmUp: true });
  const { recorded } = graphs();
  // Guided and plain steps, a skipped one, the measurement.
  expect(recorded).toBe(4);
  await runPlan(plan, networks, noInputs, { caches });
  expect(graphs()).toMatchObject({ recorded, destroyed: 0 });
});

it('branches that go together are recorded with fewer kernels than apart', async () => {
  const { b, networks } = open();
  await using _ = b;
  const kernels = async (joinedRows?: number) => {
    const before = b.report().launches;
    using caches = new RunCaches({ textBytes: 0, sessions: 1, sessionBytes: 256 * mebibyte, joinedRows });
    await runPlan(planOf(small, tiny), networks, noInputs, { caches, skipFrames: true });
    return b.report().launches - before;
  };
  const together = await kernels();
  expect(await kernels(0)).toBeGreaterThan(together);
  expect(await kernels(1e9)).toBe(together);
});
