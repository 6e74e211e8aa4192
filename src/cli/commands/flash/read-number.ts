// Numbers given as flags.
import { RequestError } from '../../../protocol/index.js';

/**
 * A number above 0.
 * @param flag its name without dashes
 * @throws RequestError naming the flag and the value
 */
export function readNumber(flag: string, text: string): number;
export function readNumber(flag: string, text: string | undefined): number | undefined;
export function readNumber(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() !== '' && value > 0 && Number.isFinite(value)) return value;
  throw new RequestError('invalid_value', flag, `--${flag} must be a number above 0, got ${text}`);
}

/** A whole number from `least`. */
export function readWhole(flag: string, text: string | undefined, least = 1): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text.trim()) && value >= least) return value;
  throw new RequestError('invalid_value', flag, `--${flag} must be a whole number of at least ${least}, got ${text}`);
}
