import { execFileSync } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import { type HostTensor, OutOfMemoryError, type Tensor } from '../backend/index.js';
import { type CpuBackend, type CpuOptions, createCpuBackend } from './cpu-backend.js';

const opened: CpuBackend[] = [];

async function open(options: CpuOptions): Promise<CpuBackend> {
  const backend = await createCpuBackend({ blas: null, ...options });
  opened.push(backend);
  return backend;
}

afterEach(async () => {
  for (const backend of opened.splice(0)) await backend[Symbol.asyncDispose]();
});

/** Whole numbers around zero, so that sums are exact whatever their order. */
function ramp(shape: readonly number[]): HostTensor {
  const values = new Float32Array(shape.reduce((product, size) => product * size, 1));
  for (let i = 0; i < values.length; i++) values[i] = ((i * 7) % 13) - 6;
  return { shape, dtype: 'f32', bytes: new Uint8Array(values.buffer) };
}

async function bytesOf(b: CpuBackend, x: Tensor): Promise<Uint8Array> {
  return (await b.download(x)).bytes;
}

describe('createCpuBackend', () => {
  it('says how many threads compute and with what', async () => {
    expect((await open({ threads: 1 })).describe()).toBe('cpu: 1 thread, SIMD kernels');
    expect((await open({ threads: 2 })).describe()).toBe('cpu: 2 threads, SIMD kernels');
  });

  it.each([0, -1, 1.5, 1000])('refuses %s threads', async (threads) => {
    await expect(open({ threads })).rejects.toThrow(`${threads} threads: expected a whole number from 1 to 512`);
  });

  it('refuses a named BLAS that is not there', async () => {
    await expect(open({ threads: 1, blas: '/nowhere/libblas.so' })).rejects.toThrow('/nowhere/libblas.so');
  });

  it('names the BLAS, its version and kernels where there is one', async () => {
    const b = await open({ threads: 1, blas: 'auto' });
    expect(b.arithmetic).toMatch(b.blas === null ? /^SIMD kernels$/ : /^OpenBLAS \d+\.\d+\.\d+\S* \w+$/);
    // Kernels of 2004 mean that the hint about the processor came too late or not at all.
    if (b.blas !== null && process.arch === 'x64') expect(b.arithmetic).not.toContain('Prescott');
  });

  it('does not keep a process alive', () => {
    const script = `
      import { createCpuBackend } from ${JSON.stringify(new URL('../../dist/cpu/index.js', import.meta.url).href)};
      const b = await createCpuBackend({ threads: 3, blas: null });
      console.log(b.describe());`;
    const said = execFileSync(process.execPath, ['--input-type=module', '-e', script], { timeout: 20_000 });
    expect(String(said)).toBe('cpu: 3 threads, SIMD kernels\n');
  });
});

describe('memory of the CPU device', () => {
  it('is given back at the end of a scope', async () => {
    const b = await open({ threads: 1 });
    const x = b.upload(ramp([100, 100]));
    const before = b.usedBytes();
    b.scope(() => {
      b.add(b.permute(x, [1, 0]), x);
      return null;
    });
    expect(b.usedBytes()).toBe(before);
    x[Symbol.dispose]();
    expect(b.usedBytes()).toBe(before - 40_000);
  });

  it('is refused beyond its limit, with what would fit', async () => {
    const b = await open({ threads: 1, memoryLimit: 32 << 20 });
    expect(() => b.zeros([64 << 20], 'u8')).toThrow(OutOfMemoryError);
    expect(() => b.zeros([64 << 20], 'u8')).toThrow('fewer frames or a smaller picture');
    expect(b.zeros([4 << 20], 'u8').shape).toEqual([4 << 20]);
  });

  it('takes packed weights back when activations need the room', async () => {
    const b = await open({ threads: 1, memoryLimit: 48 << 20 });
    const w = b.weight([ramp([1024, 2048])], 'matrix');
    const x = b.upload(ramp([1, 2048]));
    const first = await bytesOf(b, b.matmul(x, w));
    const large = b.zeros([32 << 20], 'u8');
    large[Symbol.dispose]();
    expect(await bytesOf(b, b.matmul(x, w))).toEqual(first);
  });
});

describe('weights of the CPU device', () => {
  it.each([null, 'auto'])('give the same products kept, or packed range by range (BLAS %s)', async (blas) => {
    const parts = [ramp([1500, 1900]), ramp([700, 1900])];
    const x = ramp([5, 1900]);
    const results: Uint8Array[] = [];
    for (const weightCache of [1 << 30, 0]) {
      const b = await open({ threads: 2, blas, weightCache });
      const w = b.weight(parts, 'matrix');
      const bias = b.upload(ramp([2200]));
      results.push(await bytesOf(b, b.matmul(b.upload(x), w, { bias })));
    }
    expect(results[1]).toEqual(results[0]);
  });

  it('free their packed copy when disposed of', async () => {
    const b = await open({ threads: 1 });
    const x = b.upload(ramp([1, 64]));
    const use = () => {
      using w = b.weight([ramp([512, 64])], 'matrix');
      b.scope(() => {
        b.matmul(x, w);
        return null;
      });
    };
    use();
    const before = b.usedBytes();
    use();
    expect(b.usedBytes()).toBe(before);
  });

  it('can be used in different numbers of groups', async () => {
    const b = await open({ threads: 1 });
    const w = b.weight([ramp([6, 2, 1, 1, 1])], 'convolution');
    const single = await bytesOf(b, b.conv(b.upload(ramp([1, 1, 1, 2])), w));
    const triple = await bytesOf(b, b.conv(b.upload(ramp([1, 1, 1, 6])), w, { groups: 3 }));
    // Rows of w: (-6, 1), (-5, 2), (-4, 3), (-3, 4), (-2, 5), (-1, 6) by x = (-6, 1, -5, 2, -4, 3).
    expect([...new Float32Array(single.buffer)]).toEqual([37, 32, 27, 22, 17, 12]);
    expect([...new Float32Array(triple.buffer)]).toEqual([37, 32, 26, 23, 23, 22]);
  });

  it('accept norm weights in their stored dtype', async () => {
    const b = await open({ threads: 1 });
    const weight = b.cast(b.upload(ramp([4])), 'bf16');
    const norm = b.rmsNorm(b.upload(ramp([1, 4])), weight, { eps: 0 });
    const same = b.rmsNorm(b.upload(ramp([1, 4])), b.upload(ramp([4])), { eps: 0 });
    expect(await bytesOf(b, norm)).toEqual(await bytesOf(b, same));
  });
});

describe('threads of the CPU device', () => {
  it('turn a fault in any thread into an error, and go on working', async () => {
    const b = await open({ threads: 3 });
    const x = b.upload(ramp([4096, 64]));
    const step = b.upload({ shape: [1], dtype: 'i32', bytes: new Uint8Array(4) });
    const coefficients = b.upload({ shape: [1, 1], dtype: 'f32', bytes: new Uint8Array(Float32Array.of(1).buffer) });
    // A tensor that claims more rows than the memory has: its tiles fault wherever they run.
    const beyond = b.view(x, [4096, 64]);
    Object.defineProperty(beyond, 'address', { value: 2 ** 32 - 4096 });
    expect(() => b.linearCombination(x, { terms: [beyond], coefficients, step })).toThrow(/out of bounds/);
    expect(b.add(x, x).shape).toEqual([4096, 64]);
  });

  it('compute nothing more once the device is closed', async () => {
    const b = await createCpuBackend({ threads: 2, blas: null });
    const x = b.upload(ramp([2]));
    await b[Symbol.asyncDispose]();
    expect(() => b.add(x, x)).toThrow('the CPU device has been closed');
  });
});
