import { describe, expect, it } from 'vitest';
import { hartleyMatrix, seaGains } from './sea-filter.js';

describe('seaGains', () => {
  it('is the product of the axes, scaled to a mean of one', () => {
    // One axis of four: frequencies 0, 1/4, 1/2, 1/4; S = 64 and 8 with p = 3; sigma = a = 0.5.
    const side = (s: number) => (0.5 * s) / (0.25 * s + 0.25);
    const raw = [2, side(64), side(8), side(64)];
    const mean = raw.reduce((sum, gain) => sum + gain, 0) / 4;
    const gains = seaGains({ frames: 4, rows: 1, columns: 1 }, 0.5, 3);
    for (const [i, gain] of raw.entries()) expect(gains[i]).toBeCloseTo(gain / mean, 5);
  });

  it('leaves out high frequencies while there is much noise, and nothing in the end', () => {
    const [low = 0, , high = 1] = seaGains({ frames: 1, rows: 1, columns: 4 }, 0.95, 3);
    expect(low / high).toBeGreaterThan(30);
    for (const gain of seaGains({ frames: 2, rows: 3, columns: 4 }, 0, 3)) expect(gain).toBeCloseTo(1, 6);
  });

  it('lays columns out first, frames last', () => {
    const gains = seaGains({ frames: 2, rows: 1, columns: 3 }, 0.9, 3);
    expect(gains[0]).toBeGreaterThan(gains[1] as number); // the second frame's frequency
    expect(gains[2]).toBe(gains[4]); // both sides of the columns' frequencies
  });
});

it('the Hartley matrix is its own inverse, and symmetric', () => {
  const n = 7;
  const m = hartleyMatrix(n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) {
      let sum = 0;
      for (let k = 0; k < n; k++) sum += (m[i * n + k] as number) * (m[k * n + j] as number);
      expect(sum).toBeCloseTo(i === j ? 1 : 0, 6);
      expect(m[i * n + j]).toBeCloseTo(m[j * n + i] as number, 6);
    }
});
