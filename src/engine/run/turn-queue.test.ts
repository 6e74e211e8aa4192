import { describe, expect, it } from 'vitest';
import { TurnQueue } from './turn-queue.js';

describe('TurnQueue', () => {
  it('gives turns in order, one at a time', async () => {
    const queue = new TurnQueue();
    const log: string[] = [];
    const work = async (name: string) => {
      using _ = await queue.take();
      log.push(`${name} begins`);
      await new Promise((resolve) => setTimeout(resolve, 2));
      log.push(`${name} ends`);
    };
    await Promise.all([work('a'), work('b'), work('c')]);
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });

  it('lets those behind an abandoned wait still wait for those in front', async () => {
    const queue = new TurnQueue();
    const first = await queue.take();
    const stop = new AbortController();
    const second = queue.take(stop.signal);
    let isThird = false;
    const third = queue.take().then((turn) => {
      isThird = true;
      return turn;
    });
    stop.abort(new Error('no more'));
    await expect(second).rejects.toThrow('no more');
    await new Promise((resolve) => setTimeout(resolve, 2));
    expect(isThird).toBe(false);
    first[Symbol.dispose]();
    (await third)[Symbol.dispose]();
    await queue.idle();
  });
});
