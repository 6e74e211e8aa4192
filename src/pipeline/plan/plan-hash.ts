// A plan as a name: its hash.
import { createHash } from 'node:crypto';
import type { Plan } from '../plan-types.js';

/** SHA-256, in hex, of a value's canonical JSON: object keys sorted, no white space. */
export function hashJson(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

/** SHA-256 of a plan: equal plans have equal hashes, whatever order their fields were written in. */
export function planHash(plan: Plan): string {
  return hashJson(plan);
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return item;
    return Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
