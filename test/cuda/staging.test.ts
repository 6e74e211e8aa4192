// Large weights on their way to the GPU: threads that copy, blocks that are used again, and the order of streams.
import { describe, expect, it } from 'vitest';
import { createBackendOn } from '../../src/cuda/cuda-backend.js';
import { CopyLane } from '../../src/cuda/runtime/copy-lane.js';
import { Device } from '../../src/cuda/runtime/device.js';
import { HostCopier } from '../../src/cuda/runtime/memory/host-copier.js';
import { HostMemory } from '../../src/cuda/runtime/memory/host-memory.js';
import { MemoryPool } from '../../src/cuda/runtime/memory/memory-pool.js';
import { Staging } from '../../src/cuda/runtime/memory/staging.js';
import { Stream } from '../../src/cuda/runtime/stream.js';
import { ownWeight } from '../../src/cuda/weights/cuda-weight.js';
import { addressOf, viewAddress } from '../../src/native/index.js';
import { createFakeCublasLt } from './fake-cublaslt.js';
import { createFakeDriver } from './fake-driver.js';
import type { FakeOrder } from './fake-streams.js';

const orders: readonly FakeOrder[] = ['as given', 'others late', 'others early'];

function noise(bytes: number, seed: number): Uint8Array {
  const words = new Uint32Array(Math.ceil(bytes / 4));
  for (let i = 0, state = seed; i < words.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    words[i] = state;
  }
  return new Uint8Array(words.buffer, 0, bytes);
}

const isSame = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0;

describe('copies by several threads', () => {
  it.each([0, 3])('bring every byte with %i helpers, copy after copy', (helpers) => {
    using copier = new HostCopier(helpers);
    const from = noise((9 << 20) + 13, 7);
    for (const [start, bytes] of [
      [0, from.length],
      [5, 3],
      [17, 4 << 20],
      [1 << 20, (8 << 20) + 13],
    ] as const) {
      const to = new Uint8Array(bytes + 2).fill(0xee);
      copier.copy(Number(addressOf(to)) + 1, Number(addressOf(from)) + start, bytes);
      expect(isSame(to.subarray(1, -1), from.subarray(start, start + bytes))).toBe(true);
      expect([to[0], to.at(-1)]).toEqual([0xee, 0xee]);
    }
  });
});

describe.each(orders)('staged uploads, %s', (order) => {
  it('arrive in order, whatever happens to the host bytes and to the memory they go to', () => {
    const { driver, state } = createFakeDriver({ order });
    const device = new Device(driver, 0);
    const main = new Stream(device);
    const lane = new CopyLane(device, main);
    const host = new HostMemory(device);
    const pool = new MemoryPool(device);
    using copier = new HostCopier(1);
    const blockBytes = 1 << 20;
    const staging = new Staging(host, lane, copier, blockBytes);
    const size = 3 * blockBytes + 777;
    const [target, kept] = [pool.allocate(size), pool.allocate(size)];
    const wanted: Uint8Array[] = [];
    // The first upload is read by the main stream before the second takes its place.
    for (const seed of [1, 2]) {
      const bytes = noise(size, seed);
      wanted.push(bytes.slice());
      staging.upload(target, bytes);
      bytes.fill(0);
      if (seed === 1) main.copy(kept, target, size);
    }
    main.drain();
    expect([kept, target].map((at, i) => isSame(viewAddress(BigInt(at), size), wanted[i] as Uint8Array))).toEqual([
      true,
      true,
    ]);
    expect(host.held).toBe(2 * blockBytes);
    staging[Symbol.dispose]();
    expect(host.held).toBe(0);
    expect(state.calls.filter((name) => name === 'cuMemHostAlloc')).toHaveLength(2);
  });

  it('carry merged parts of weights, large and small', async () => {
    const { driver, state } = createFakeDriver({ order });
    const cublasLt = createFakeCublasLt({ enqueue: state.enqueue, serves: () => true });
    const device = new Device(driver, 0);
    const b = createBackendOn(
      { device, compiler: { version: 'fake', compile: () => new Uint8Array(8) }, cublasLt },
      {},
    );
    const parts = [2100, 3, 2600].map((rows, i) => ({
      shape: [rows, 1024],
      dtype: 'bf16' as const,
      bytes: noise(rows * 2048, i + 1),
    }));
    const weight = b.weight(parts, 'matrix');
    await b.synchronize();
    const { address, byteLength } = ownWeight(weight);
    const all = Buffer.concat(parts.map(({ bytes }) => bytes));
    expect(isSame(viewAddress(BigInt(address), byteLength), all)).toBe(true);
    await b[Symbol.asyncDispose]();
    expect(state.blocks.size).toBe(0);
    expect(state.hostBlocks.size).toBe(0);
  });
});
