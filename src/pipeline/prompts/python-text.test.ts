import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatFixed, formatFloat, roundHalfEven, strip, stripDots } from './python-text.js';

// Expected values are those of CPython 3.12.
describe('formatFixed', () => {
  it.each([
    [17 / 24, 1, '0.7'],
    [9 / 24, 1, '0.4'],
    [0.25, 1, '0.2'],
    [0.75, 1, '0.8'],
    [1.25, 1, '1.2'],
    [0.35, 1, '0.3'],
    [0.45, 1, '0.5'],
    [2.25, 1, '2.2'],
    [97 / 15, 1, '6.5'],
    [7.875, 1, '7.9'],
    [0, 1, '0.0'],
    [0.5, 0, '0'],
    [1.5, 0, '2'],
    [2.5, 0, '2'],
    [23.976, 0, '24'],
    [12.5, 0, '12'],
    [13.5, 0, '14'],
  ] as const)('%d with %d digits is %s', (x, digits, text) => {
    expect(formatFixed(x, digits)).toBe(text);
  });
});

describe('formatFloat', () => {
  it.each([
    [24, '24.0'],
    [0, '0.0'],
    [-0, '-0.0'],
    [12.5, '12.5'],
    [1e15, '1000000000000000.0'],
    [1e16, '1e+16'],
    [1.5e22, '1.5e+22'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [-0.00012345, '-0.00012345'],
    [1.2e-10, '1.2e-10'],
    [29.97002997002997, '29.97002997002997'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
  ])('%d is %s', (x, text) => {
    expect(formatFloat(x)).toBe(text);
  });

  it('reads back as the same number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (x) => {
        expect(Number(formatFloat(x))).toBe(x);
      }),
    );
  });
});

describe('roundHalfEven', () => {
  it.each([
    [0.5, 0],
    [1.5, 2],
    [2.5, 2],
    [1.8, 2],
    [2.4999, 2],
    [-0.5, 0],
    [-1.5, -2],
  ])('%d is %d', (x, rounded) => {
    expect(roundHalfEven(x) + 0).toBe(rounded);
  });
});

describe('strip', () => {
  it('removes what Python calls white space', () => {
    expect(strip(' \t\n\u001f\u00a0\u3000a b\u2028\u0085 ')).toBe('a b');
    expect(strip('\ufeffa\ufeff')).toBe('\ufeffa\ufeff');
    expect(strip('  ')).toBe('');
    expect(stripDots('a. b...')).toBe('a. b');
    expect(stripDots('...')).toBe('');
  });
});
