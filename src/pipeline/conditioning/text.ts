// The text side of a run: each prompt goes once through the understanding tower; its keys and values serve all steps.
import { type Backend, disposeTensors } from '../../backend/index.js';
import { type KvCache, prefill } from '../../models/cosmos3-transformer/index.js';
import { type BranchName, usesTextGuidance } from '../denoise/guidance.js';
import type { Networks } from '../networks.js';
import type { Plan } from '../plan-types.js';

/** The caches of a plan's prompts. The owner disposes of them. */
export class TextCaches implements Disposable {
  constructor(
    readonly positive: KvCache,
    readonly negative: KvCache | null,
  ) {}

  of(branch: BranchName): KvCache {
    if (branch !== 'uncond') return this.positive;
    if (!this.negative) throw new Error('the uncond branch has no negative prompt');
    return this.negative;
  }

  [Symbol.dispose](): void {
    disposeTensors(this.positive.layers);
    disposeTensors(this.negative?.layers);
  }
}

/** Runs the prompts that the plan's guidance needs. */
export function prefillPrompts({ backend, transformer }: Networks, plan: Plan): TextCaches {
  const run = (b: Backend, tokens: readonly number[]) => prefill(b, transformer, Int32Array.from(tokens));
  const positive = run(backend, plan.prompt.tokens);
  const negative =
    plan.negativePrompt && usesTextGuidance(plan.guidance) ? run(backend, plan.negativePrompt.tokens) : null;
  return new TextCaches(positive, negative);
}
