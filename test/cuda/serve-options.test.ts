// The options of a GPU from the flags of the server to the networks of a worker, on a driver that is a fake.
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type CudaBackend, createBackendOn } from '../../src/cuda/cuda-backend.js';
import type { CudaOptions } from '../../src/cuda/index.js';
import { Device } from '../../src/cuda/runtime/device.js';
import { layerBytes } from '../../src/engine/checkpoint/weight-bytes.js';
import { openGenerateRunner } from '../../src/engine/worker/generate-runner.js';
import { parseTransformerConfig } from '../../src/models/cosmos3-transformer/index.js';
import { deviceOptions } from '../../src/server/options/device-settings.js';
import { readSettings } from '../../src/server/options/settings.js';
import { openCheckpoint } from '../../src/weights/index.js';
import { createFakeCublasLt } from './fake-cublaslt.js';
import { createFakeDriver } from './fake-driver.js';

const model = fileURLToPath(new URL('../golden/data/tiny-nano', import.meta.url));
const opened: { readonly options: CudaOptions; readonly backend: CudaBackend }[] = [];
let totalBytes = 1 << 30;

vi.mock('../../src/cuda/index.js', async (original) => ({
  ...(await original<typeof import('../../src/cuda/index.js')>()),
  surveyCuda: () => ({
    driver: '13.0',
    gpus: [{ ordinal: 0, name: 'Fake GPU', capability: { major: 9, minor: 0 }, totalBytes }],
    libraries: [{ name: 'nvrtc', version: '13.0', path: null }],
    lacks: [],
  }),
  createCudaBackend(options: CudaOptions) {
    const { driver, state } = createFakeDriver({ totalBytes });
    const compiler = { version: 'fake', compile: () => new Uint8Array(8) };
    const cublasLt = createFakeCublasLt({ enqueue: state.enqueue, serves: () => true });
    const backend = createBackendOn({ device: new Device(driver, 0), compiler, cublasLt }, options);
    opened.push({ options, backend });
    return backend;
  },
}));

afterEach(() => {
  opened.length = 0;
  totalBytes = 1 << 30;
});

/** A worker with flags of the server. */
const open = (flags: Readonly<Record<string, unknown>>) =>
  openGenerateRunner('cuda:0', { model, ...deviceOptions(readSettings(flags).settings.deviceSettings) });

/** What the worker says of its device, and the memory that its weights take. */
async function load(flags: Readonly<Record<string, unknown>>) {
  await using runner = await open(flags);
  const { backend, options } = opened.at(-1) as (typeof opened)[number];
  const { memory, pinnedBytes } = backend.report();
  return { device: runner.device, options, allocated: memory.allocated, pinnedBytes };
}

function readConfig() {
  using checkpoint = openCheckpoint(model);
  return parseTransformerConfig(checkpoint.part('transformer').config, 'config.json');
}

const config = readConfig();
const keeping = { dtype: 'bf16', quantization: null, offload: [] } as const;

describe('a worker on a GPU', () => {
  it('tells what the GPU has', async () => {
    const { device } = await load({});
    expect(device).toMatchObject({ name: 'Fake GPU', memoryBytes: 1 << 30, servesFp8: true });
    expect(device?.freeBytes).toBeGreaterThan(0);
    expect(device?.setup).toEqual(['cuda:0: Fake GPU, bf16, CUDA 13.0, nvrtc 13.0']);
  });

  it('computes as the flags say', async () => {
    const flags = {
      dtype: 'f32',
      quantization: 'fp8',
      'fp8-fast-accumulation': true,
      'tune-products': true,
      'cuda-libraries': ['/here'],
      'vae-use-tiling': true,
      'quantization-exclude': ['und', '1'],
    };
    const { options, device } = await load(flags);
    expect(options).toMatchObject({ dtype: 'f32', fp8FastAccumulation: true, tune: true, fp8Attention: false });
    expect(options.libraryRoots?.[0]).toBe('/here');
    expect(device?.setup?.slice(1)).toEqual(['fp8 layers but und, 1', 'tiled decoder']);
  });

  it('keeps layers in eight bits', async () => {
    const [wide, narrow] = [await load({}), await load({ 'diffusion-quantization-config': { method: 'fp8' } })];
    const saved =
      layerBytes(config, keeping).device - layerBytes(config, { ...keeping, quantization: { format: 'fp8' } }).device;
    expect(saved).toBeGreaterThan(0);
    // Blocks of memory are rounded up.
    expect(Math.abs(wide.allocated - narrow.allocated - saved)).toBeLessThan(512 * 4 * 2 * 2 * config.layers);
    expect(narrow.device?.setup?.slice(1)).toEqual(['fp8 layers']);
  });

  it.each([
    [{ 'release-text-tower': true }, ['und'], 'text tower in host memory'],
    [{ 'enable-layerwise-offload': true }, ['und', 'gen'], 'layers in host memory'],
  ] as const)('keeps layers in host memory: %j', async (flags, offload, said) => {
    const [resident, away] = [await load({}), await load(flags)];
    const { host } = layerBytes(config, { ...keeping, offload });
    expect(away.pinnedBytes - resident.pinnedBytes).toBe(host);
    expect(resident.allocated - away.allocated).toBeGreaterThanOrEqual(host);
    expect(away.device?.setup?.slice(1)).toEqual([said]);
  });

  it('refuses attention in FP8 where no kernel serves it', async () => {
    await expect(open({ 'fp8-attention': true })).rejects.toThrow(
      `fp8_attention: attention in FP8 has a kernel for heads of 128 in bf16 on compute capability 9.0 alone, and the checkpoint's heads have ${config.headDim}; leave it out`,
    );
  });

  it('says what would fit where weights do not', async () => {
    totalBytes = 33 << 20;
    await expect(open({})).rejects.toThrow(
      /out of memory: .* This takes about .*, the GPU has 33\.0 MiB, of which .*: ask for/,
    );
  });
});
