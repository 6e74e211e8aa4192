// Layers one after the other, holding no more than one result at a time.
import type { Backend, Tensor } from '../backend/index.js';

export type Step = (x: Tensor) => Tensor;

/** Runs `steps` on `x`. Each step's temporaries, and each result but the last, are freed as soon as the next exists; `x` stays. */
export function chain(b: Backend, x: Tensor, steps: readonly Step[]): Tensor {
  let current = x;
  for (const step of steps) {
    const input = current;
    current = b.scope(() => step(input));
    if (input !== x && input !== current) input[Symbol.dispose]();
  }
  return current;
}
