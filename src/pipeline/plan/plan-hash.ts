// A plan as a name and as a log line: its hash, and a form without the caller's texts.
import { createHash } from 'node:crypto';
import type { Plan, PlannedPrompt } from '../plan-types.js';

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

/** A prompt without its words. */
export interface RedactedPrompt {
  readonly sha256: string;
  readonly characters: number;
  readonly tokens: number;
  readonly truncated: boolean;
}

export type RedactedPlan = Omit<Plan, 'prompt' | 'negativePrompt'> & {
  readonly prompt: RedactedPrompt;
  readonly negativePrompt: RedactedPrompt | null;
};

/** The log form of a plan: texts and their tokens appear by hash and length alone. */
export function redactPlan(plan: Plan): RedactedPlan {
  const { prompt, negativePrompt } = plan;
  return { ...plan, prompt: redactPrompt(prompt), negativePrompt: negativePrompt && redactPrompt(negativePrompt) };
}

function redactPrompt({ text, tokens, truncated }: PlannedPrompt): RedactedPrompt {
  return {
    sha256: createHash('sha256').update(text).digest('hex'),
    characters: text.length,
    tokens: tokens.length,
    truncated,
  };
}
