import { describe, expect, it } from 'vitest';
import { OutOfMemoryError } from '../../backend/index.js';
import { DeviceMemory, heapStart } from './device-memory.js';

const mib = 1 << 20;

describe('DeviceMemory', () => {
  it('aligns blocks to 64 bytes and reuses freed ones', () => {
    const memory = new DeviceMemory();
    const blocks = [1, 100, 64].map((bytes) => memory.allocate(bytes));
    expect(blocks.map((address) => address % 64)).toEqual([0, 0, 0]);
    expect(blocks).toEqual([heapStart, heapStart + 64, heapStart + 192]);
    memory.free(blocks[1] as number);
    expect(memory.allocate(128)).toBe(blocks[1]);
  });

  it('takes the smallest hole that fits', () => {
    const memory = new DeviceMemory();
    const [large, , small] = [640, 64, 128, 64].map((bytes) => memory.allocate(bytes));
    memory.free(large as number);
    memory.free(small as number);
    expect(memory.allocate(100)).toBe(small);
  });

  it('merges neighbours in whatever order they are freed', () => {
    const memory = new DeviceMemory({ limit: heapStart + 4096 });
    for (const order of [
      [0, 1, 2, 3],
      [3, 2, 1, 0],
      [0, 2, 1, 3],
      [1, 3, 0, 2],
    ]) {
      const blocks = [1024, 1024, 1024, 1024].map((bytes) => memory.allocate(bytes));
      for (const i of order) memory.free(blocks[i] as number);
      const whole = memory.allocate(4096);
      expect(whole).toBe(heapStart);
      memory.free(whole);
    }
    expect(memory.used).toBe(0);
  });

  it('grows, and keeps what was written', () => {
    const memory = new DeviceMemory();
    const first = memory.allocate(1000);
    memory.bytes(first, 1000).fill(7);
    const second = memory.allocate(40 * mib);
    memory.bytes(second, 40 * mib).fill(9);
    expect(memory.bytes(first, 1000).every((byte) => byte === 7)).toBe(true);
  });

  it('says what was asked, what is free and what would fit', () => {
    const memory = new DeviceMemory({ limit: heapStart + 4 * mib });
    memory.allocate(3 * mib);
    expect(memory.fits(mib - 64)).toBe(true);
    expect(memory.fits(2 * mib)).toBe(false);
    expect(() => memory.allocate(2 * mib)).toThrow(OutOfMemoryError);
    try {
      memory.allocate(2 * mib);
    } catch (error) {
      expect(error).toMatchObject({ asked: 2 * mib, free: mib });
      expect(String(error)).toContain('fewer frames or a smaller picture');
    }
  });

  it('hands out no more than WebAssembly can address', () => {
    expect(new DeviceMemory({ limit: 2 ** 40 }).limit).toBe(65535 * 65536);
  });

  it('notices writes beside a block', () => {
    const memory = new DeviceMemory({ probe: true });
    const block = memory.allocate(10);
    expect(memory.floats(block, 1)[0]).toBeNaN();
    memory.bytes(block, 10).fill(1);
    expect(memory.damage()).toEqual([]);
    memory.bytes(block + 10, 1).fill(1);
    expect(memory.damage()).toEqual(['1 bytes after a block of 10']);
    memory.bytes(block - 2, 2).fill(1);
    memory.free(block);
    expect(memory.damage()).toEqual(['2 bytes before a block of 10']);
  });

  it('refuses to free what it never gave', () => {
    expect(() => new DeviceMemory().free(128)).toThrow('no block at 128');
  });
});
