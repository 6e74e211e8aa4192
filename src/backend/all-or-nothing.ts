// Device data that outlives the call that makes it: all of it is made, or nothing stays.
import type { Backend, Tensor } from './backend.js';
import { disposeTensors } from './dispose.js';

/** Takes over tensors and weights, however nested in arrays and plain objects, and gives them back. */
export type Own = <T>(value: T) => T;

/**
 * Runs `body`, and frees what it made but what it hands to `own`; that too where it throws.
 * @returns what `body` returned, and a way to free what it owns
 */
export function allOrNothing<T>(b: Backend, body: (own: Own) => T): { readonly result: T; readonly owned: Disposable } {
  const owned: unknown[] = [];
  const free = () => disposeTensors(owned);
  const results: T[] = [];
  try {
    b.scope(() => {
      const result = body((taken) => {
        owned.push(taken);
        return taken;
      });
      results.push(result);
      return tensorsIn(owned);
    });
  } catch (error) {
    free();
    throw error;
  }
  const [result] = results as [T];
  return { result, owned: { [Symbol.dispose]: free } };
}

/** The tensors in a value; weights hold theirs by themselves. */
function tensorsIn(value: unknown): Tensor[] {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return [];
  if (isTensor(value)) return [value];
  return Symbol.dispose in value ? [] : Object.values(value).flatMap(tensorsIn);
}

function isTensor(value: object): value is Tensor {
  return Symbol.dispose in value && 'dtype' in value && !('format' in value);
}
