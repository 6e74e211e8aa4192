// Tells listeners of changes; one that throws does not keep the others from hearing.
import type { JobChange } from '../types.js';

export class ChangeFeed {
  readonly #listeners = new Set<(change: JobChange) => void>();

  /** Returns how to stop listening. */
  subscribe(listener: (change: JobChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(change: JobChange): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(change);
      } catch (error) {
        // The change is on disk already: whoever made it must not see a listener's error.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
