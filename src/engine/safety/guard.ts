// The guardrails as the engine's callers use them: refusals are coded errors, and a checker that fails refuses as well.
import {
  CheckerError,
  type Decision,
  GuardrailBlockedError,
  type GuardrailOptions,
  Guardrails,
} from '../../guardrails/index.js';
import { RequestError } from '../../protocol/index.js';

export { type Decision, GuardrailMissingError, type GuardrailOptions } from '../../guardrails/index.js';

/** An open guard. */
export interface Guard {
  readonly isEnabled: boolean;
  readonly promptCheckers: readonly string[];
  readonly frameCheckers: readonly string[];
  /** Lines on what is not checked. */
  readonly notes: readonly string[];
  /**
   * @throws RequestError `prompt_blocked`, or `unavailable` when a checker cannot judge
   */
  checkPrompt(prompt: string, signal?: AbortSignal): Promise<void>;
  /** The same for pictures of a result. */
  checkFrames(
    frames: readonly { readonly bytes: Uint8Array; readonly mediaType: string }[],
    signal?: AbortSignal,
  ): Promise<void>;
}

/**
 * Opens the guardrails for a checkpoint.
 * @param needsModel the checkpoint may only serve behind a guard model
 * @throws GuardrailMissingError when it needs one and none is given; Error for options that cannot be used
 */
export function openGuard(options: GuardrailOptions, needsModel: boolean): Guard {
  const guardrails = Guardrails.open(options);
  return {
    isEnabled: guardrails.isEnabled,
    promptCheckers: guardrails.promptCheckers,
    frameCheckers: guardrails.frameCheckers,
    notes: guardrails.require(needsModel),
    checkPrompt: (prompt, signal) => tell(guardrails.checkPrompt(prompt, signal), 'prompt'),
    checkFrames: (frames, signal) => tell(guardrails.checkFrames(frames, signal), null),
  };
}

async function tell(check: Promise<void>, param: string | null): Promise<void> {
  try {
    await check;
  } catch (error) {
    if (error instanceof GuardrailBlockedError) throw new RequestError('prompt_blocked', param, error.message);
    if (error instanceof CheckerError) {
      throw new RequestError('unavailable', null, `${error.message}; nothing is made without one. Try again later.`);
    }
    throw error;
  }
}

/** How decisions are shown in a log: without a word of the prompt. */
export function describeDecision({
  checker,
  subject,
  outcome,
  category,
  seconds,
}: Decision): Readonly<Record<string, unknown>> {
  return { checker, subject, outcome, category, seconds: Math.round(seconds * 1000) / 1000 };
}
