import { describe, expect, it } from 'vitest';
import { addSample, type History, mostSamples, sparkPath } from './history.js';

describe('addSample', () => {
  it('keeps all series of one length', () => {
    let history: History = addSample({}, { queued: 1 });
    history = addSample(history, { queued: 2, memory: 5 });
    history = addSample(history, { memory: 6 });
    expect(history).toEqual({ queued: [1, 2, null], memory: [null, 5, 6] });
  });

  it('forgets the oldest', () => {
    let history: History = {};
    for (let i = 0; i < mostSamples + 10; i++) history = addSample(history, { queued: i });
    expect(history.queued?.length).toBe(mostSamples);
    expect(history.queued?.[0]).toBe(10);
  });
});

describe('sparkPath', () => {
  // A step of one for a course of less than a minute.
  const width = 29;
  it('has the newest at the right edge and 0 at the bottom', () => {
    const { line, area, last } = sparkPath([0, 4, 2], width, 10);
    expect(line).toBe(`M${width - 2} 10L${width - 1} 0L${width} 5`);
    expect(area).toBe(`${line}L${width} 10L${width - 2} 10Z`);
    expect(last).toEqual({ x: width, y: 5 });
  });

  it('breaks where nothing is known', () => {
    expect(sparkPath([1, null, 1], width, 10, 2).line).toBe(`M${width - 2} 5M${width} 5`);
    expect(sparkPath([1, null], width, 10).last).toBeNull();
    expect(sparkPath([], width, 10)).toEqual({ line: '', area: '', last: null });
    const whole = sparkPath(new Array(mostSamples).fill(1), 149, 10).line;
    expect([whole.slice(0, 4), whole.slice(-6)]).toEqual(['M0 0', 'L149 0']);
    expect(sparkPath([0, 0], width, 10).line).toBe(`M${width - 1} 10L${width} 10`);
  });
});
