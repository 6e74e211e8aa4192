import { describe, expect, it } from 'vitest';
import { describeIgnored, readSkipList } from './skip-list.js';

describe('readSkipList, of ten steps', () => {
  it.each([
    ['', [], []],
    ['3,5,7', [3, 5, 7], []],
    ['2,4,6,8', [2, 4, 6, 8], []],
    ['3, 5', [3, 5], []],
    ['7,3', [3, 7], []],
    ['0', [], ['0 (the first step has no velocity before it)']],
    ['9', [], ['9 (the last step is always computed)']],
    ['12,4', [4], ['12 (the run has steps 0 to 9)']],
    ['a', [], ['a (no step number)']],
    ['-1', [], ['-1 (no step number)']],
    ['3.0', [], ['3.0 (no step number)']],
    ['3,3,5', [3, 5], ['3 (listed twice)']],
    ['3,,5', [3, 5], ['an empty entry (nothing stands between two commas)']],
    [[5, 3, 10], [3, 5], ['10 (the run has steps 0 to 9)']],
  ])('%j', (list, steps, ignored) => {
    const read = readSkipList(list, 10);
    expect(read.steps).toEqual(steps);
    expect(describeIgnored(read.ignored)).toBe(ignored.join(', '));
  });

  it('leaves nothing to skip of two steps', () => {
    expect(readSkipList('1', 2)).toEqual({
      steps: [],
      ignored: [{ entry: '1', reason: 'the last step is always computed' }],
    });
  });
});
