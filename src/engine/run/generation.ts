// One generation as a caller sees it: an async iterable of progress that ends in the artifact.
import type { Artifact, ProgressEvent } from './events.js';

/** A running generation. It starts when it is iterated or awaited, and can be consumed once. */
export class Generation implements AsyncIterable<ProgressEvent> {
  readonly #events: AsyncGenerator<ProgressEvent, void>;

  constructor(events: AsyncGenerator<ProgressEvent, void>) {
    this.#events = events;
  }

  /** Progress; leaving the loop early stops the work and removes what was begun. */
  [Symbol.asyncIterator](): AsyncGenerator<ProgressEvent, void> {
    return this.#events;
  }

  /** Runs to the end and gives the artifact. @throws whatever the generation throws */
  async result(): Promise<Artifact> {
    for await (const event of this.#events) if (event.type === 'artifact') return event.artifact;
    throw new Error('the generation was already consumed');
  }
}
