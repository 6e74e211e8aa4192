import { expect, test } from 'vitest';
import { hrefOf, parseRoute, type Route } from './router.js';

test('addresses and routes are the same thing twice', () => {
  const routes: readonly Route[] = [
    { name: 'make' },
    { name: 'job', id: 'video_gen_0a' },
    { name: 'job', id: 'a/b c' },
    { name: 'compare', ids: ['a', 'b%'] },
    { name: 'gallery', query: { q: 'red ball', task: 'transfer' } },
    { name: 'gallery', query: {} },
    { name: 'status' },
  ];
  for (const route of routes) expect(parseRoute(hrefOf(route))).toEqual(route);
});

test('what is no address', () => {
  expect(parseRoute('')).toEqual({ name: 'make' });
  expect(parseRoute('#/jobs')).toEqual({ name: 'unknown' });
  expect(parseRoute('#/jobs/%E0%A4%A')).toEqual({ name: 'job', id: '%E0%A4%A' });
  expect(parseRoute('#/elsewhere')).toEqual({ name: 'unknown' });
});
