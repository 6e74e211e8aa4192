// Counts what a run really computed: steps that were skipped, guidance and prompts that were reused take no work.
import type { GenerationEvent } from '../../pipeline/events.js';

/** What a run computed, over all its chunks. */
export interface RunWork {
  readonly steps: number;
  readonly computedSteps: number;
  /** Branches that went through the generation tower. */
  readonly passes: number;
  /** Prompts that went through the text tower, and those that had before. */
  readonly computedTexts: number;
  readonly reusedTexts: number;
}

/** Adds the events of one run up. */
export class WorkTally {
  #work: RunWork = { steps: 0, computedSteps: 0, passes: 0, computedTexts: 0, reusedTexts: 0 };

  get work(): RunWork {
    return this.#work;
  }

  add(event: Extract<GenerationEvent, { readonly type: 'step' | 'text' }>): void {
    const { steps, computedSteps, passes } = this.#work;
    this.#work =
      event.type === 'text'
        ? { ...this.#work, computedTexts: event.computed, reusedTexts: event.reused }
        : {
            ...this.#work,
            steps: steps + 1,
            computedSteps: computedSteps + (event.skipped ? 0 : 1),
            passes: passes + event.passes,
          };
  }
}
