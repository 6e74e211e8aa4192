// Elementary functions on four floats, to about one unit in the last place; the same bits on every machine.

/** e^x; x is held within what float32 can express, so that the result is finite and above zero. NaN stays NaN. */
function exp4(x: v128): v128 {
  const held = f32x4.pmax(f32x4.pmin(x, f32x4.splat(88.37)), f32x4.splat(-86.6));
  // Adding 1.5 * 2^23 rounds to a whole number and leaves it in the low bits.
  const t = f32x4.add(f32x4.mul(held, f32x4.splat(Mathf.LOG2E)), f32x4.splat(12582912));
  const n = f32x4.sub(t, f32x4.splat(12582912));
  // ln 2 in two parts, the first short enough that its product with n is exact.
  let r = f32x4.sub(held, f32x4.mul(n, f32x4.splat(0.693359375)));
  r = f32x4.sub(r, f32x4.mul(n, f32x4.splat(-2.121944400546906e-4)));
  let p = f32x4.splat(1.0 / 5040.0);
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1.0 / 720.0));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1.0 / 120.0));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1.0 / 24.0));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1.0 / 6.0));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(0.5));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1.0));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1.0));
  // 2^n goes straight into the exponent.
  return i32x4.add(p, i32x4.shl(t, 23));
}

/** `to = e^(from * scale - shift)` on `count` floats, and their sum. The only caller of `exp4`, so that the compiler puts it inline. */
export function expRange(to: usize, from: usize, count: i32, scale: f32, shift: f32): f32 {
  const factor = f32x4.splat(scale);
  const offset = f32x4.splat(shift);
  let sum = f32x4.splat(0);
  for (let left = count; left > 0; left -= 4) {
    const x = left >= 4 ? v128.load(from) : loadPart(from, left, 0);
    const y = exp4(f32x4.sub(f32x4.mul(x, factor), offset));
    if (left >= 4) {
      v128.store(to, y);
      sum = f32x4.add(sum, y);
    } else {
      storePart(to, left, y);
      sum = f32x4.add(sum, loadPart(to, left, 0));
    }
    from += 16;
    to += 16;
  }
  return lanes(sum);
}

/** sin(x)^2, whose period is pi. */
export function sinSquared4(x: v128): v128 {
  const n = f32x4.nearest(f32x4.mul(x, f32x4.splat(<f32>1 / Mathf.PI)));
  let r = f32x4.sub(x, f32x4.mul(n, f32x4.splat(3.140625)));
  r = f32x4.sub(r, f32x4.mul(n, f32x4.splat(9.675025939941406e-4)));
  r = f32x4.sub(r, f32x4.mul(n, f32x4.splat(1.509957990978376e-7)));
  const z = f32x4.mul(r, r);
  let p = f32x4.splat(1.0 / 6227020800.0);
  p = f32x4.sub(f32x4.mul(p, z), f32x4.splat(1.0 / 39916800.0));
  p = f32x4.add(f32x4.mul(p, z), f32x4.splat(1.0 / 362880.0));
  p = f32x4.sub(f32x4.mul(p, z), f32x4.splat(1.0 / 5040.0));
  p = f32x4.add(f32x4.mul(p, z), f32x4.splat(1.0 / 120.0));
  p = f32x4.sub(f32x4.mul(p, z), f32x4.splat(1.0 / 6.0));
  const s = f32x4.add(r, f32x4.mul(f32x4.mul(r, z), p));
  return f32x4.mul(s, s);
}

/** Sum of the four lanes. */
export function lanes(x: v128): f32 {
  return f32x4.extract_lane(x, 0) + f32x4.extract_lane(x, 1) + (f32x4.extract_lane(x, 2) + f32x4.extract_lane(x, 3));
}

/** Up to three floats in the low lanes, the rest `fill`. */
export function loadPart(from: usize, count: i32, fill: f32): v128 {
  let x = f32x4.splat(fill);
  x = f32x4.replace_lane(x, 0, load<f32>(from));
  if (count > 1) x = f32x4.replace_lane(x, 1, load<f32>(from, 4));
  if (count > 2) x = f32x4.replace_lane(x, 2, load<f32>(from, 8));
  return x;
}

/** Stores the low one to three lanes. */
export function storePart(to: usize, count: i32, x: v128): void {
  store<f32>(to, f32x4.extract_lane(x, 0));
  if (count > 1) store<f32>(to, f32x4.extract_lane(x, 1), 4);
  if (count > 2) store<f32>(to, f32x4.extract_lane(x, 2), 8);
}
