// Groups of weights where host memory is the device's own, and the backend whose weights belong to a group.
import type { Backend, Offload, WeightGroup } from './backend.js';

/** What `Backend.offload` gives on a device without a memory of its own: weights stay where they are. */
export function residentOffload(): Offload {
  const group: WeightGroup = { enter: () => {} };
  return { group: () => group, release: () => {}, [Symbol.dispose]: () => {} };
}

/** The backend, making its matrices as members of a group. */
export function inGroup(b: Backend, group: WeightGroup): Backend {
  const weight: Backend['weight'] = (parts, use, options) =>
    b.weight(parts, use, use === 'matrix' ? { ...options, group } : options);
  return Object.create(b, { weight: { value: weight } });
}
