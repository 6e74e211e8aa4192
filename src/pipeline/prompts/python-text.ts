// Text as Python writes it: the networks were trained on prompts that Python formatted, so every character counts.

/** What `str.strip` removes: the characters for which `str.isspace` holds. */
const whitespace = new Set(
  [
    0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x85, 0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003,
    0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000,
  ].map((code) => String.fromCharCode(code)),
);

/** `text.rstrip()`. */
export function stripEnd(text: string): string {
  let end = text.length;
  while (end > 0 && whitespace.has(text[end - 1] as string)) end--;
  return text.slice(0, end);
}

/** `text.strip()`. */
export function strip(text: string): string {
  let start = 0;
  while (start < text.length && whitespace.has(text[start] as string)) start++;
  return stripEnd(text.slice(start));
}

/** `text.rstrip(".")`. */
export function stripDots(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === '.') end--;
  return text.slice(0, end);
}

/** `round(x)` of a finite number below 2^52 in size: to the nearest whole number, halves to the even one. */
export function roundHalfEven(x: number): number {
  const low = Math.floor(x);
  const rest = x - low;
  if (rest < 0.5) return low;
  if (rest > 0.5) return low + 1;
  return low % 2 === 0 ? low : low + 1;
}

/** `format(x, ".0f")` or `".1f"` of a finite x >= 0: the exact binary value rounded, halves to the even digit. */
export function formatFixed(x: number, digits: 0 | 1): string {
  // A half is exact in binary only for an odd multiple of 1/2 (no digit) or of 1/4 (one digit); toFixed rounds those up.
  const isHalf = Math.abs((x * 2 ** (digits + 1)) % 2) === 1;
  if (!isHalf) return x.toFixed(digits);
  const scale = 10 ** digits;
  return (roundHalfEven(x * scale) / scale).toFixed(digits);
}

/** `repr(x)` of a float: shortest digits that read back the same, `.0` on whole numbers, exponents below -4 and from 16 on. */
export function formatFloat(x: number): string {
  if (Number.isNaN(x)) return 'NaN';
  if (!Number.isFinite(x)) return x > 0 ? 'Infinity' : '-Infinity';
  if (x === 0) return Object.is(x, -0) ? '-0.0' : '0.0';
  const [mantissa = '', power = '0'] = x.toExponential().split('e');
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 16) {
    const size = String(Math.abs(exponent)).padStart(2, '0');
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${size}`;
  }
  const sign = mantissa.startsWith('-') ? '-' : '';
  const digits = mantissa.replace(/[-.]/g, '');
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  return `${sign}${whole}.${digits.slice(exponent + 1) || '0'}`;
}
