// A backend that also takes weights that are described instead of stored: a GPU makes their numbers, other devices get them made.
import type { Backend, HostTensor } from '../../backend/index.js';
import { isRandomWeight, randomBytes } from '../../weights/index.js';
import type { CudaBackend } from '../loader.js';

/**
 * The backend, taking described weights.
 * @param cuda the same, where it is a GPU
 */
export function takeRandomWeights(backend: Backend, cuda: CudaBackend | null): Backend {
  const weight: Backend['weight'] = (parts, use, options) => {
    const described = parts.filter(isRandomWeight);
    if (described.length === 0) return backend.weight(parts, use, options);
    if (cuda !== null && described.length === parts.length) {
      const random = described.map(({ shape, random: { seed, scale } }) => ({ shape, seed, scale }));
      return cuda.randomWeight(random, use, options);
    }
    return backend.weight(parts.map(materialise), use, options);
  };
  return Object.create(backend, { weight: { value: weight } });
}

function materialise(part: HostTensor): HostTensor {
  return isRandomWeight(part) ? { shape: part.shape, dtype: 'bf16', bytes: randomBytes(part) } : part;
}
