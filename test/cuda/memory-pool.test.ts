// Device memory: blocks cut and joined, exact accounting, what an out-of-memory error says.
import { describe, expect, it } from 'vitest';
import { OutOfMemoryError } from '../../src/backend/index.js';
import { Device } from '../../src/cuda/runtime/device.js';
import { MemoryPool } from '../../src/cuda/runtime/memory/memory-pool.js';
import { createFakeDriver } from './fake-driver.js';

const mib = 2 ** 20;

function open(totalBytes = 256 * mib) {
  const { driver, state } = createFakeDriver({ totalBytes });
  return { pool: new MemoryPool(new Device(driver, 0)), state };
}

describe('MemoryPool', () => {
  it('rounds blocks to 512 bytes and counts them exactly', () => {
    const { pool } = open();
    const a = pool.allocate(1);
    const b = pool.allocate(513);
    expect(a % 512).toBe(0);
    expect(b - a).toBe(512);
    expect(pool.use).toEqual({ allocated: 1536, reserved: 2 * mib, peakAllocated: 1536, peakReserved: 2 * mib });
    pool.free(a);
    expect(pool.use.allocated).toBe(1024);
    expect(pool.use.peakAllocated).toBe(1536);
    pool.resetPeaks();
    expect(pool.use.peakAllocated).toBe(1024);
  });

  it('gives no bytes for nothing', () => {
    const { pool } = open();
    expect(pool.allocate(0)).toBe(0);
    pool.free(0);
    expect(pool.use.reserved).toBe(0);
  });

  it('joins freed neighbours, in whatever order they were freed', () => {
    const { pool, state } = open();
    const blocks = [0, 1, 2, 3].map(() => pool.allocate(mib / 2));
    for (const i of [1, 3, 2, 0]) pool.free(blocks[i] ?? 0);
    expect(pool.allocate(2 * mib - 512)).toBe(blocks[0]);
    expect(state.calls.filter((name) => name === 'cuMemAlloc')).toHaveLength(1);
  });

  it('takes the smallest free block that fits', () => {
    const { pool } = open();
    const [large, , small] = [pool.allocate(4096), pool.allocate(512), pool.allocate(1024), pool.allocate(512)];
    pool.free(large ?? 0);
    pool.free(small ?? 0);
    expect(pool.allocate(1024)).toBe(small);
    expect(pool.allocate(1024)).toBe(large);
  });

  it('keeps large segments for large tensors', () => {
    const { pool } = open();
    const large = pool.allocate(64 * mib);
    pool.free(large);
    expect(pool.allocate(512)).not.toBe(large);
    expect(pool.allocate(60 * mib)).toBe(large);
    expect(pool.use.reserved).toBe(66 * mib);
  });

  it('gives unused segments back before it fails, and then says what was asked and what is free', () => {
    const { pool, state } = open(128 * mib);
    pool.free(pool.allocate(100 * mib));
    expect(pool.allocate(110 * mib)).toBeGreaterThan(0);
    expect(state.calls).toContain('cuMemFree');
    expect(() => pool.allocate(32 * mib)).toThrow(OutOfMemoryError);
    expect(() => pool.allocate(32 * mib)).toThrow(
      /^out of memory: 0\.03 GiB asked, 0\.02 GiB free\. Fake GPU has 0\.13 GiB, .*0\.11 GiB in tensors.*--vae-use-tiling/,
    );
  });

  it('asks others to give back what they keep', () => {
    const { driver } = createFakeDriver({ totalBytes: 64 * mib });
    const device = new Device(driver, 0);
    const other = new MemoryPool(device);
    other.free(other.allocate(40 * mib));
    const pool = new MemoryPool(device, () => other.trim());
    expect(pool.allocate(40 * mib)).toBeGreaterThan(0);
    expect(other.use.reserved).toBe(0);
  });

  it('refuses an address it does not know, and one freed twice', () => {
    const { pool } = open();
    const a = pool.allocate(512);
    pool.free(a);
    expect(() => pool.free(a)).toThrow(/was freed before/);
    expect(() => pool.free(12345)).toThrow(/12345 was not allocated here/);
  });

  it('gives every segment back when it is disposed of', () => {
    const { pool, state } = open();
    for (const size of [512, 3 * mib, 40 * mib]) pool.allocate(size);
    pool[Symbol.dispose]();
    expect(state.blocks.size).toBe(0);
    expect(pool.use.reserved).toBe(0);
  });

  it('holds its blocks apart through a long random life', () => {
    const { pool } = open(1024 * mib);
    const live = new Map<number, number>();
    let state = 1;
    const next = (limit: number) => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      return state % limit;
    };
    for (let i = 0; i < 2000; i++) {
      if (live.size > 0 && next(2) === 0) {
        const address = [...live.keys()][next(live.size)] ?? 0;
        pool.free(address);
        live.delete(address);
      } else {
        const bytes = 1 + next(next(10) === 0 ? 4 * mib : 40_000);
        live.set(pool.allocate(bytes), bytes);
      }
    }
    const sorted = [...live].sort(([a], [b]) => a - b);
    for (const [i, [address, bytes]] of sorted.entries())
      expect(address + bytes).toBeLessThanOrEqual(sorted[i + 1]?.[0] ?? Number.POSITIVE_INFINITY);
    const total = sorted.reduce((sum, [, bytes]) => sum + Math.ceil(bytes / 512) * 512, 0);
    expect(pool.use.allocated).toBe(total);
  });
});
