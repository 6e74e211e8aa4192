import { expect, test } from 'vitest';
import { readActions } from './read-actions.js';

test('rows are read from JSON, wrapped or not, and from CSV', () => {
  const rows = [
    [0.5, -1],
    [2, 3],
  ];
  expect(readActions('[[0.5,-1],[2,3]]')).toEqual(rows);
  expect(readActions('[[[0.5,-1],[2,3]]]')).toEqual(rows);
  expect(readActions('{"shape":[2,2],"data":[[0.5,-1],[2,3]]}')).toEqual(rows);
  expect(readActions('0.5,-1\n2,3\n')).toEqual(rows);
  expect(readActions('step,x,y\r\n0,0.5,-1\r\n1,2,3')).toEqual(rows);
});

test('what holds no rows of one length is refused', () => {
  for (const text of ['', '[]', '[[1],[2,3]]', '{"a":1}', '[1', '1,2\n3', 'x,y\n1,', '[["1"]]']) {
    expect(readActions(text), text).toBeNull();
  }
});
