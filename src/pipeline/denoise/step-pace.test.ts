import { describe, expect, it, vi } from 'vitest';
import type { Backend } from '../../backend/index.js';
import { StepPace } from './step-pace.js';

/** A device whose work ends when the test says so. */
function device() {
  const pending: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  const backend = {
    synchronize: () => new Promise<void>((resolve, reject) => pending.push({ resolve, reject })),
  } as object as Backend;
  return { backend, pending };
}

async function isSettled(promise: Promise<void>): Promise<boolean> {
  let settled = false;
  void promise.then(() => {
    settled = true;
  });
  await Promise.resolve();
  await Promise.resolve();
  await Promise.resolve();
  return settled;
}

describe('StepPace', () => {
  it('waits for the first steps, then runs one ahead of short ones', async () => {
    const { backend, pending } = device();
    const pace = new StepPace(backend);
    for (let step = 0; step < 2; step++) {
      const next = pace.next();
      expect(await isSettled(next)).toBe(false);
      pending[step]?.resolve();
      await next;
    }
    const third = pace.next();
    expect(await isSettled(third)).toBe(true);
    const fourth = pace.next();
    expect(await isSettled(fourth)).toBe(false);
    pending[2]?.resolve();
    await fourth;
    const end = pace.finish();
    expect(await isSettled(end)).toBe(false);
    pending[3]?.resolve();
    await end;
  });

  it('waits for every long step', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const { backend, pending } = device();
      const pace = new StepPace(backend);
      for (let step = 0; step < 4; step++) {
        const next = pace.next();
        expect(await isSettled(next)).toBe(false);
        vi.advanceTimersByTime(3000);
        pending[step]?.resolve();
        await next;
      }
    } finally {
      vi.useRealTimers();
    }
  });

  it('throws what the device failed with, at the latest at the end', async () => {
    const { backend, pending } = device();
    const pace = new StepPace(backend);
    for (let step = 0; step < 2; step++) {
      const next = pace.next();
      pending[step]?.resolve();
      await next;
    }
    await pace.next();
    pending[2]?.reject(new Error('launch failed'));
    await expect(pace.finish()).rejects.toThrow('launch failed');
  });
});
