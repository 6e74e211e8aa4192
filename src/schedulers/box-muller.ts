// Box-Muller in single precision: pairs of uniform numbers to pairs of normal ones, rounded step by step as PyTorch's AVX2 path does.

const { fround } = Math;
const twoPi = fround(2 * Math.PI);

// Coefficients of Cephes' logf (S. Moshier), highest power first.
const log0 = fround(7.0376836292e-2);
const log1 = fround(-1.151461031e-1);
const log2 = fround(1.167699874e-1);
const log3 = fround(-1.2420140846e-1);
const log4 = fround(1.4249322787e-1);
const log5 = fround(-1.6668057665e-1);
const log6 = fround(2.0000714765e-1);
const log7 = fround(-2.4999993993e-1);
const log8 = fround(3.3333331174e-1);
const sqrtHalf = fround(Math.SQRT1_2);
// ln 2 in two parts, the larger with few bits so that its multiples are exact.
const ln2Low = fround(-2.1219444e-4);
const ln2High = fround(0.693359375);

// Coefficients of Cephes' sinf and cosf on [-pi/4, pi/4], and pi/4 in three parts.
const sin0 = fround(-1.9515295891e-4);
const sin1 = fround(8.3321608736e-3);
const sin2 = fround(-1.6666654611e-1);
const cos0 = fround(2.443315711809948e-5);
const cos1 = fround(-1.388731625493765e-3);
const cos2 = fround(4.166664568298827e-2);
const fourOverPi = fround(4 / Math.PI);
const quarterPi1 = fround(0.78515625);
const quarterPi2 = fround(2.418756484985351e-4);
const quarterPi3 = fround(3.774894977445941e-8);

/**
 * Turns 16 uniform numbers in [0, 1) into 16 normal ones in place: element k < 8 gives the radius sqrt(-2 ln(1 - u)) and k + 8
 * the angle float32(2 pi) u; k receives radius cos, k + 8 radius sin. This is the block PyTorch's AVX2 path works in.
 * Logarithm, sine and cosine are Cephes' single-precision ones, where a product and the sum that follows it are rounded once
 * (fused multiply-add): fround(a * b + c) does that, because float64 holds the product of two float32 exactly.
 * @param values float32
 * @param bits the same memory as `values`, as int32
 * @param begin first element of the block
 */
export function transformBlock(values: Float32Array, bits: Int32Array, begin: number): void {
  for (let at = begin; at < begin + 8; at++) {
    const pair = at + 8;
    values[at] = 1 - (values[at] as number);
    const radius = fround(Math.sqrt(fround(-2 * logarithm(values, bits, at))));

    // Octant of the angle, rounded up to even, and the distance to it.
    const angle = fround(twoPi * (values[pair] as number));
    const octant = (fround(angle * fourOverPi) + 1) & ~1;
    let x = fround(angle - octant * quarterPi1);
    x = fround(x - octant * quarterPi2);
    x = fround(x - octant * quarterPi3);
    const z = fround(x * x);

    let even = fround(cos0 * z + cos1);
    even = fround(even * z + cos2);
    even = fround(fround(fround(even * z) * z - z * 0.5) + 1);
    let odd = fround(sin0 * z + sin1);
    odd = fround(odd * z + sin2);
    odd = fround(fround(odd * z) * x + x);

    const swapped = (octant & 2) !== 0;
    const sine = swapped ? even : odd;
    const cosine = swapped ? odd : even;
    values[at] = fround(radius * ((octant + 2) & 4 ? -cosine : cosine));
    values[pair] = fround(radius * (octant & 4 ? -sine : sine));
  }
}

/** Cephes' logf of the normal positive number at `at`, which it overwrites. */
function logarithm(values: Float32Array, bits: Int32Array, at: number): number {
  const pattern = bits[at] as number;
  let exponent = (pattern >>> 23) - 126;
  bits[at] = (pattern & 0x007fffff) | 0x3f000000;
  const mantissa = values[at] as number;
  let x = fround(mantissa - 1);
  if (mantissa < sqrtHalf) {
    exponent -= 1;
    x = fround(x + mantissa);
  }
  const z = fround(x * x);
  let y = fround(log0 * x + log1);
  y = fround(y * x + log2);
  y = fround(y * x + log3);
  y = fround(y * x + log4);
  y = fround(y * x + log5);
  y = fround(y * x + log6);
  y = fround(y * x + log7);
  y = fround(y * x + log8);
  y = fround(fround(y * x) * z);
  y = fround(exponent * ln2Low + y);
  y = fround(y - z * 0.5);
  return fround(exponent * ln2High + fround(x + y));
}
