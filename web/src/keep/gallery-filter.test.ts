import { describe, expect, it } from 'vitest';
import { addressOf, filterOf, listQueryOf, matchesFilter, noFilter, startOfDay } from './gallery-filter.js';

const day = 86_400;
const job = {
  prompt: 'A Red ball rolls',
  task: 'text-to-video',
  status: 'completed',
  created_at: startOfDay('2026-12-01') + 3600,
} as const;

describe('addresses', () => {
  it('hold what is asked for and nothing else, both ways', () => {
    const filter = { ...noFilter, words: 'red ball', from: '2026-11-30', favourites: true };
    expect(addressOf(filter)).toEqual({ q: 'red ball', from: '2026-11-30', favourites: '1' });
    expect(filterOf(addressOf(filter))).toEqual(filter);
    expect(filterOf({ from: 'yesterday', favourites: 'x' })).toEqual(noFilter);
  });
});

describe('listQueryOf', () => {
  it('asks from the start of the first day to the end of the last', () => {
    const query = listQueryOf({ ...noFilter, words: '  red ', from: '2026-11-30', to: '2026-11-30' });
    expect(query.q).toBe('red');
    expect((query.created_before ?? 0) - (query.created_after ?? 0)).toBe(day);
    expect(listQueryOf({ ...noFilter, favourites: true })).toEqual({});
  });

  it('knows days of 23 and 25 hours by the calendar', () => {
    expect(startOfDay('2026-12-31', 1)).toBe(startOfDay('2027-01-01'));
  });
});

describe('matchesFilter', () => {
  it('wants all words, in any case and order', () => {
    expect(matchesFilter(job, { ...noFilter, words: 'ROLLS red' })).toBe(true);
    expect(matchesFilter(job, { ...noFilter, words: 'red cube' })).toBe(false);
  });

  it('wants task, status and day', () => {
    expect(matchesFilter(job, { ...noFilter, task: 'transfer' })).toBe(false);
    expect(matchesFilter(job, { ...noFilter, status: 'completed', task: 'text-to-video' })).toBe(true);
    expect(matchesFilter(job, { ...noFilter, from: '2026-12-01', to: '2026-12-01' })).toBe(true);
    expect(matchesFilter(job, { ...noFilter, from: '2026-12-02' })).toBe(false);
    expect(matchesFilter(job, { ...noFilter, to: '2026-11-30' })).toBe(false);
  });
});
