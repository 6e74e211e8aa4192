// The text side of a run: each prompt goes once through the understanding tower; its keys and values serve all steps.
import type { KvCache } from '../../models/cosmos3-transformer/index.js';
import { type BranchName, usesTextGuidance } from '../denoise/guidance.js';
import type { Networks } from '../networks.js';
import type { Plan } from '../plan-types.js';
import type { HeldText, TextCache } from './text-cache.js';

/** The prompts of a plan, held until it is disposed of. */
export class BranchTexts implements Disposable {
  readonly #positive: HeldText;
  readonly #negative: HeldText | null;

  constructor(positive: HeldText, negative: HeldText | null) {
    this.#positive = positive;
    this.#negative = negative;
  }

  of(branch: BranchName): KvCache {
    if (branch !== 'uncond') return this.#positive.kv;
    if (!this.#negative) throw new Error('the uncond branch has no negative prompt');
    return this.#negative.kv;
  }

  /** Prompts that had been run before, and those that were run now. */
  get counts(): { readonly reused: number; readonly computed: number } {
    const held = [this.#positive, this.#negative].filter((text) => text !== null);
    const reused = held.filter(({ isReused }) => isReused).length;
    return { reused, computed: held.length - reused };
  }

  [Symbol.dispose](): void {
    this.#positive[Symbol.dispose]();
    this.#negative?.[Symbol.dispose]();
  }
}

/** Takes the prompts that the plan's guidance needs from the cache, which runs those that it has not. */
export function holdPrompts(networks: Networks, plan: Plan, cache: TextCache): BranchTexts {
  const positive = cache.hold(networks, plan.prompt.tokens);
  try {
    const needsNegative = plan.negativePrompt !== null && usesTextGuidance(plan.guidance);
    return new BranchTexts(positive, needsNegative ? cache.hold(networks, plan.negativePrompt.tokens) : null);
  } catch (error) {
    positive[Symbol.dispose]();
    throw error;
  }
}
