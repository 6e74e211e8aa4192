// Launches and modules: arguments as the driver reads them, kernels compiled once, images shared between processes, errors.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KernelCompileError } from '../../src/cuda/index.js';
import type { KernelSource } from '../../src/cuda/kernels/sources.js';
import { readKernelText } from '../../src/cuda/kernels/sources.js';
import type { Compiler } from '../../src/cuda/runtime/compiler.js';
import { Device } from '../../src/cuda/runtime/device.js';
import { ImageCache, imageKey } from '../../src/cuda/runtime/image-cache.js';
import { Launcher } from '../../src/cuda/runtime/launcher.js';
import { compileOptions, ModuleCache } from '../../src/cuda/runtime/module-cache.js';
import { Stream } from '../../src/cuda/runtime/stream.js';
import { viewAddress } from '../../src/native/index.js';
import { createFakeDriver, type FakeDriverOptions } from './fake-driver.js';

const add: KernelSource = { file: 'pointwise/arithmetic', entry: 'add', signature: 'pfis' };

function fakeCompiler(): Compiler & { readonly asked: (readonly string[])[] } {
  const asked: (readonly string[])[] = [];
  return {
    version: 'fake 1',
    asked,
    compile({ file }, options) {
      if (options.includes('-DBROKEN=1')) throw new KernelCompileError(file, 'line 3: expected a ;');
      asked.push(options);
      return Buffer.from(`image of ${file} ${options.join(' ')}`);
    },
  };
}

function open(options: FakeDriverOptions = {}, folder: string | null = null, compiler = fakeCompiler()) {
  const { driver, state } = createFakeDriver(options);
  const device = new Device(driver, 0);
  const stream = new Stream(device);
  const modules = new ModuleCache(device, compiler, new ImageCache(folder));
  return { device, state, stream, modules, compiler, launcher: new Launcher(stream) };
}

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-images-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('Launcher', () => {
  it('packs addresses, floats, negative integers and a struct where the table points', () => {
    let seen: unknown;
    const { launcher, modules } = open({
      onLaunch: ({ parameters, grid, block, shared }) => {
        const table = new BigUint64Array(viewAddress(BigInt(parameters), 8 * 4).slice().buffer);
        const at = (i: number, bytes: number) => {
          const copy = viewAddress(table[i] ?? 0n, bytes).slice();
          return new DataView(copy.buffer);
        };
        seen = {
          address: Number(at(0, 8).getBigUint64(0, true)),
          float: at(1, 4).getFloat32(0, true),
          integer: at(2, 8).getBigInt64(0, true),
          struct: [...new Uint8Array(at(3, 16).buffer)],
          grid,
          block,
          shared,
        };
      },
    });
    const kernel = modules.get(add, {});
    const struct = Uint8Array.from({ length: 16 }, (_, i) => i + 1);
    launcher.launch({ kernel, grid: [7, 2], block: 128, shared: 64, args: [0x7f12_3456_7890, 0.5, -3], struct });
    expect(seen).toEqual({
      address: 0x7f12_3456_7890,
      float: 0.5,
      integer: -3n,
      struct: [...struct],
      grid: [7, 2, 1],
      block: 128,
      shared: 64,
    });
    expect(launcher.count).toBe(1);
  });

  it('refuses arguments that do not match the signature', () => {
    const { launcher, modules } = open();
    const kernel = modules.get(add, {});
    expect(() => launcher.launch({ kernel, grid: [1], block: 32, args: [1, 2, 3] })).toThrow(/add takes "pfis", got 3/);
    expect(() => launcher.launch({ kernel, grid: [1], block: 32, args: [1], struct: new Uint8Array(8) })).toThrow(
      /got 1 arguments and a struct/,
    );
  });

  it('allows large shared memory once, and says what a block has', () => {
    const { launcher, modules, state } = open({ sharedBytes: 100_000 });
    const kernel = modules.get({ ...add, signature: 'p' }, {});
    launcher.launch({ kernel, grid: [1], block: 32, shared: 90_000, args: [0] });
    launcher.launch({ kernel, grid: [1], block: 32, shared: 80_000, args: [0] });
    expect(state.calls.filter((name) => name === 'cuFuncSetAttribute')).toHaveLength(1);
    expect(() => launcher.launch({ kernel, grid: [1], block: 32, shared: 120_000, args: [0] })).toThrow(
      /add needs 120000 bytes of shared memory, a block of Fake GPU has 100000/,
    );
  });

  it("names the call and the driver's own words when a launch fails", () => {
    const { launcher, modules, state } = open();
    const kernel = modules.get({ ...add, signature: 'p' }, {});
    state.failures.set('cuLaunchKernel', 700);
    expect(() => launcher.launch({ kernel, grid: [1], block: 32, args: [0] })).toThrow(
      'cuLaunchKernel(add) failed with 700: CUDA_ERROR_ILLEGAL_ADDRESS, an illegal memory access was encountered',
    );
  });
});

describe('ModuleCache', () => {
  it('compiles a kernel once for each set of defines, for the chip that is there', () => {
    const { modules, compiler } = open();
    const first = modules.get(add, { TYPE: 'bf16', VEC: 8 });
    expect(modules.get(add, { TYPE: 'bf16', VEC: 8 })).toBe(first);
    expect(modules.get(add, { TYPE: 'float', VEC: 8 })).not.toBe(first);
    expect(compiler.asked).toEqual([
      ['--gpu-architecture=sm_90a', '--std=c++17', '-DTYPE=bf16', '-DVEC=8'],
      ['--gpu-architecture=sm_90a', '--std=c++17', '-DTYPE=float', '-DVEC=8'],
    ]);
    expect(modules.counts).toMatchObject({ compiled: 2, fromDisk: 0 });
  });

  it.each([
    [[8, 0], 'sm_80'],
    [[8, 9], 'sm_89'],
    [[9, 0], 'sm_90a'],
    [[10, 0], 'sm_100'],
    [[12, 0], 'sm_120'],
  ] as const)('names capability %j %s', (capability, name) => {
    const { device } = open({ capability });
    expect(device.architecture).toBe(name);
  });

  it('finds images of an earlier process, and none when source, defines, chip or compiler differ', () => {
    const first = open({}, folder);
    first.modules.get(add, { VEC: 4 });
    const second = open({}, folder);
    second.modules.get(add, { VEC: 4 });
    expect(second.modules.counts).toMatchObject({ compiled: 0, fromDisk: 1 });
    const text = readKernelText(add);
    const key = (changed: Partial<typeof text>, chip: string, version: string) =>
      imageKey({ ...text, ...changed }, compileOptions(chip, { VEC: 4 }), version);
    const keys = [
      key({}, 'sm_90a', 'nvrtc 13.0'),
      key({ source: `${text.source} ` }, 'sm_90a', 'nvrtc 13.0'),
      key({ headers: [] }, 'sm_90a', 'nvrtc 13.0'),
      key({}, 'sm_80', 'nvrtc 13.0'),
      key({}, 'sm_90a', 'nvrtc 12.8'),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('compiles again where a kept image is damaged, and leaves no half-written file', () => {
    const own = mkdtempSync(join(folder, 'damaged-'));
    open({}, own).modules.get(add, { VEC: 2 });
    const [name = ''] = readdirSync(own);
    const path = join(own, name);
    writeFileSync(path, readFileSync(path).subarray(0, 40));
    const again = open({}, own);
    again.modules.get(add, { VEC: 2 });
    expect(again.modules.counts).toMatchObject({ compiled: 1, fromDisk: 0 });
    expect(readdirSync(own)).toEqual([name]);
    expect(open({}, own).modules.get(add, { VEC: 2 }).name).toBe('add');
  });

  it('works without a folder that can be written to', () => {
    const file = join(folder, 'a-file');
    writeFileSync(file, '');
    const { modules } = open({}, join(file, 'below'));
    modules.get(add, { VEC: 1 });
    expect(modules.counts.compiled).toBe(1);
  });

  it('passes on what the compiler complains of', () => {
    const { modules } = open();
    expect(() => modules.get(add, { BROKEN: 1 })).toThrow(KernelCompileError);
    expect(() => modules.get(add, { BROKEN: 1 })).toThrow(/arithmetic\.cu does not compile:\nline 3: expected a ;/);
  });
});

describe('Device', () => {
  it('says how many GPUs there are', () => {
    const { driver } = createFakeDriver({ gpus: 2 });
    expect(() => new Device(driver, 2)).toThrow(/GPU 2 of 2; GPUs count from 0/);
  });

  it('waits for events without blocking the event loop', async () => {
    const { stream, state } = open();
    state.pendingQueries = 5;
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    await stream.synchronize();
    expect(state.calls.filter((name) => name === 'cuEventQuery')).toHaveLength(6);
    expect(state.calls).not.toContain('cuStreamSynchronize');
    expect(turned).toBe(true);
  });

  it('reports work that failed when it is waited for', async () => {
    const { stream, state } = open();
    state.failures.set('cuEventQuery', 700);
    await expect(stream.synchronize()).rejects.toThrow(/cuEventQuery failed with 700/);
  });
});
