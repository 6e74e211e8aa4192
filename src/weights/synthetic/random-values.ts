// Pseudo-random numbers, nearly normal, each from its place alone: what GPUs make for themselves, made on the host.

/** Deviation of the sum of four bytes that are equally likely each. */
export const byteSumDeviation = Math.sqrt((4 * (256 ** 2 - 1)) / 12);

/** An integer hash of full avalanche over 32 bits. */
function mix(value: number): number {
  let x = value >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

/** 32 bits that stand for a name. */
export function seedOf(name: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(name, 'utf8')) hash = Math.imul(hash ^ byte, 0x01000193);
  return mix(hash);
}

/** `count` float32 values: the sum of the four bytes of each place's hash, less its mean, times `scale`. */
export function randomValues(count: number, seed: number, scale: number): Float32Array {
  const factor = Math.fround(scale);
  const values = new Float32Array(count);
  for (let place = 0; place < count; place++) {
    const bits = mix(mix(place) ^ seed);
    const sum = (bits & 255) + ((bits >>> 8) & 255) + ((bits >>> 16) & 255) + (bits >>> 24);
    values[place] = (sum - 510) * factor;
  }
  return values;
}
