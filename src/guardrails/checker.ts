// What a checker says, and what can be checked: a prompt before the work, some frames after it.

/** A checker's judgement. */
export interface Verdict {
  readonly isSafe: boolean;
  /** Category or list that the refusal rests on; never words of the prompt. */
  readonly category: string | null;
}

/** Judges prompts. */
export interface PromptChecker {
  /** As logs and counters name it. */
  readonly name: string;
  /** It understands what is meant, not only which words are there. */
  readonly isModel: boolean;
  /** @throws CheckerError when it cannot judge */
  checkPrompt(prompt: string, signal?: AbortSignal): Promise<Verdict>;
}

/** A picture for a checker: a file's bytes and media type. */
export interface Picture {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

/** Judges pictures. */
export interface FrameChecker {
  readonly name: string;
  /** @throws CheckerError when it cannot judge */
  checkFrames(frames: readonly Picture[], signal?: AbortSignal): Promise<Verdict>;
}

/** A checker that could not judge: out of reach, or with an answer that says nothing. */
export class CheckerError extends Error {
  override readonly name = 'CheckerError';

  constructor(
    readonly checker: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(`The safety checker ${checker} gave no judgement: ${message}`, options);
  }
}

/** Nothing against it. */
export const safe: Verdict = { isSafe: true, category: null };
