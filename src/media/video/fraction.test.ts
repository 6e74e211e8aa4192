import { describe, expect, it } from 'vitest';
import { fractionText, ratePrintedAs, toFraction } from './fraction.js';

const text = (value: number, limit?: number): string => fractionText(toFraction(value, limit));

describe('toFraction', () => {
  it('finds the fraction behind a rate', () => {
    expect([24, 12.5, 24000 / 1001, 30000 / 1001, 1 / 3, 0.001].map((value) => text(value))).toEqual([
      '24/1',
      '25/2',
      '24000/1001',
      '30000/1001',
      '1/3',
      '1/1000',
    ]);
  });

  it('is as near as the limit allows', () => {
    // The best approximations of pi with denominators up to 10 and 100, and with a semiconvergent up to 100.
    expect([text(Math.PI, 10), text(Math.PI, 100), text(Math.PI, 1000)]).toEqual(['22/7', '311/99', '355/113']);
  });

  it('refuses what is no rate', () => {
    for (const value of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => toFraction(value)).toThrow(`${value}`);
  });
});

describe('ratePrintedAs', () => {
  it('recognises broadcast rates', () => {
    expect([23.98, 29.97, 59.94, 119.88, 25, 12.5, 14.99].map((value) => fractionText(ratePrintedAs(value)))).toEqual([
      '24000/1001',
      '30000/1001',
      '60000/1001',
      '120000/1001',
      '25/1',
      '25/2',
      '15000/1001',
    ]);
  });
});
