// Range checks: a value that does not fit becomes a RequestError that names it, its limits and the way out.
import { type ErrorCode, RequestError } from '../../protocol/request-error.js';
import type { PlanWarning } from '../plan-types.js';
import type { Interval } from '../request.js';

/** Most denoise steps of a run. */
export const stepLimit = 200;

/** Collects what the caller should hear. */
export type Warn = (param: string, message: string) => void;

/** A `Warn` and the list it fills. */
export function collectWarnings(): { readonly warn: Warn; readonly warnings: readonly PlanWarning[] } {
  const warnings: PlanWarning[] = [];
  return { warn: (param, message) => void warnings.push({ param, message }), warnings };
}

/** @throws RequestError always. */
export function refuse(code: ErrorCode, param: string | null, message: string): never {
  throw new RequestError(code, param, message);
}

/** Returns `value` if it is a whole number in `low … high`. @throws RequestError otherwise. */
export function wholeNumber(param: string, value: number, low: number, high: number): number {
  if (Number.isSafeInteger(value) && value >= low && value <= high) return value;
  return refuse(
    'invalid_value',
    param,
    `${param} is ${value}; it must be a whole number from ${low} to ${high}: give one, or leave it out for the default`,
  );
}

/** Returns `value` if it is a finite number in `low … high`. @throws RequestError otherwise. */
export function finiteNumber(param: string, value: number, low: number, high: number): number {
  if (Number.isFinite(value) && value >= low && value <= high) return value;
  return refuse(
    'invalid_value',
    param,
    `${param} is ${value}; it must be a number from ${low} to ${high}: give one, or leave it out for the default`,
  );
}

/** Returns `value` if it is an ordered pair of finite numbers. @throws RequestError otherwise. */
export function orderedInterval(param: string, value: Interval): Interval {
  const given: readonly number[] = value;
  const remedy = 'give two timesteps from 0 to 1000, the lower first';
  if (given.length !== 2)
    refuse('invalid_value', param, `Cosmos3 ${param} must contain exactly two values. Got ${given.length}; ${remedy}`);
  const [low, high] = value;
  if (!(Number.isFinite(low) && Number.isFinite(high)))
    refuse('invalid_value', param, `${param} is [${low}, ${high}]; both must be finite: ${remedy}`);
  if (low > high)
    refuse('invalid_value', param, `Cosmos3 ${param} must be ordered as [lo, hi], got [${low}, ${high}]; ${remedy}`);
  return [low, high];
}

/** `['a', 'b']` as Python prints a list of strings. */
export function listed(names: readonly string[]): string {
  return `[${names.map((name) => `'${name}'`).join(', ')}]`;
}
