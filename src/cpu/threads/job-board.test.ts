import { describe, expect, it } from 'vitest';
import { DeviceMemory } from '../storage/device-memory.js';
import { JobBoard } from './job-board.js';

function boards(patienceMs?: number): [main: JobBoard, helper: JobBoard] {
  const { buffer } = new DeviceMemory().wasm;
  return [new JobBoard(buffer, patienceMs), new JobBoard(buffer)];
}

describe('JobBoard', () => {
  it('gives each tile once, to whoever asks', () => {
    const [main, helper] = boards();
    main.open(3, 4);
    expect(helper.enter({ generation: 0 })).toBe(3);
    expect([main.take(), helper.take(), helper.take(), main.take(), main.take(), helper.take()]).toEqual([
      0, 1, 2, 3, -1, -1,
    ]);
    helper.leave();
    expect(() => main.close()).not.toThrow();
  });

  it('does not wait for helpers that never came', () => {
    const [main] = boards(1);
    main.open(0, 1);
    expect(main.take()).toBe(0);
    expect(() => main.close()).not.toThrow();
  });

  it('passes on what went wrong in a helper, once', () => {
    const [main, helper] = boards();
    const seen = { generation: 0 };
    main.open(1, 2);
    helper.enter(seen);
    helper.fail('no such tile');
    helper.leave();
    expect(() => main.close()).toThrow('a compute thread failed: no such tile');
    main.open(2, 2);
    expect(helper.enter(seen)).toBe(2);
    helper.leave();
    expect(() => main.close()).not.toThrow();
  });

  it('gives up on a helper that died with a tile in its hands', () => {
    const [main, helper] = boards(20);
    main.open(0, 2);
    helper.enter({ generation: 0 });
    expect(() => main.close()).toThrow('has crashed or hangs');
  });

  it('sends helpers home', () => {
    const [main, helper] = boards();
    main.stop();
    expect(helper.enter({ generation: 0 })).toBe(-1);
  });
});
