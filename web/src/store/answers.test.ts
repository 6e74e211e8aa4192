import { expect, it } from 'vitest';
import { Answers } from './answers.js';

it('calls an answer old whose job changed after the question, and no other', () => {
  const answers = new Answers();
  answers.hear('a');
  const isOld = answers.ask();
  expect(['a', 'b'].map(isOld)).toEqual([false, false]);
  answers.hear('b');
  expect(['a', 'b'].map(isOld)).toEqual([false, true]);
  expect(answers.ask()('b')).toBe(false);
});
