// The guardrails of a process: which checkers there are, whether they are enough for a checkpoint, and their joint judgement.
import { Blocklist, bundledBlocklists, readBlocklist } from './blocklist.js';
import { CheckerError, type FrameChecker, type Picture, type PromptChecker } from './checker.js';
import { EndpointChecker } from './endpoint-checker.js';

/** What checks, and how. */
export interface GuardrailOptions {
  /** False checks nothing. */
  readonly isEnabled: boolean;
  /** Files of words besides the bundled list. */
  readonly blocklists?: readonly string[] | undefined;
  /** Endpoint that judges prompts. */
  readonly url?: string | null | undefined;
  readonly model?: string | null | undefined;
  readonly key?: string | null | undefined;
  /** Endpoint that judges pictures. */
  readonly framesUrl?: string | null | undefined;
  readonly timeoutMs?: number | undefined;
  readonly fetch?: typeof fetch | undefined;
  /** Told of each judgement. */
  readonly onDecision?: ((decision: Decision) => void) | undefined;
}

/** One judgement of one checker. */
export interface Decision {
  readonly checker: string;
  readonly subject: 'prompt' | 'frames';
  readonly outcome: 'passed' | 'blocked' | 'error';
  readonly category: string | null;
  readonly seconds: number;
}

/** A prompt or picture was refused. The message says no more than the original interface does. */
export class GuardrailBlockedError extends Error {
  override readonly name = 'GuardrailBlockedError';

  constructor(
    readonly checker: string,
    readonly category: string | null,
  ) {
    super('Input was blocked by Cosmos3 guardrails.');
  }
}

/** A checkpoint needs a checker that is not there. */
export class GuardrailMissingError extends Error {
  override readonly name = 'GuardrailMissingError';
}

/** Checks prompts and pictures. */
export class Guardrails {
  readonly #prompt: readonly PromptChecker[];
  readonly #frames: readonly FrameChecker[];
  readonly #onDecision: (decision: Decision) => void;

  private constructor(
    prompt: readonly PromptChecker[],
    frames: readonly FrameChecker[],
    onDecision: (decision: Decision) => void,
  ) {
    this.#prompt = prompt;
    this.#frames = frames;
    this.#onDecision = onDecision;
  }

  /** Opens the checkers. @throws Error for a list that cannot be read or an address that is none */
  static open(options: GuardrailOptions): Guardrails {
    const { isEnabled, blocklists = [], url, model, key, framesUrl, timeoutMs = 20_000, fetch, onDecision } = options;
    if (!isEnabled) return new Guardrails([], [], () => undefined);
    const lists = [...bundledBlocklists(), ...blocklists.flatMap(readBlocklist)];
    const endpoint = (address: string) => new EndpointChecker({ url: address, model, key, timeoutMs, fetch });
    return new Guardrails(
      [new Blocklist(lists), ...(url ? [endpoint(url)] : [])],
      framesUrl ? [endpoint(framesUrl)] : [],
      onDecision ?? (() => undefined),
    );
  }

  get isEnabled(): boolean {
    return this.#prompt.length > 0;
  }

  /** Names of what checks prompts. */
  get promptCheckers(): readonly string[] {
    return this.#prompt.map(({ name }) => name);
  }

  /** Names of what checks pictures. */
  get frameCheckers(): readonly string[] {
    return this.#frames.map(({ name }) => name);
  }

  /**
   * Whether the checkers are enough for a checkpoint.
   * @param needsModel false for checkpoints that cannot make anything that would hurt: toys and random weights
   * @returns lines on what is not checked
   * @throws GuardrailMissingError saying what to do
   */
  require(needsModel: boolean): readonly string[] {
    if (!this.isEnabled) return ['guardrails are off: what is made is your responsibility'];
    if (needsModel && !this.#prompt.some(({ isModel }) => isModel)) {
      throw new GuardrailMissingError(
        'This checkpoint needs a guard model, and none is given. Give its endpoint (--guardrail-url, an OpenAI-compatible ' +
          'moderations or chat endpoint, as of Llama Guard or Qwen3Guard), or turn the guardrails off (--no-guardrails): ' +
          'what is made is then your responsibility, and so is the licence of the checkpoint.',
      );
    }
    const model = this.#prompt.some(({ isModel }) => isModel) ? [] : ['prompts are held against a list of words only'];
    const frames = this.#frames.length === 0 ? ['pictures are not checked'] : [];
    return [...model, ...frames].map((what) => `guardrails: ${what}`);
  }

  /** @throws GuardrailBlockedError, or CheckerError when one cannot judge: then nothing may be made either */
  async checkPrompt(prompt: string, signal?: AbortSignal): Promise<void> {
    for (const checker of this.#prompt) {
      await this.#judge(checker.name, 'prompt', () => checker.checkPrompt(prompt, signal));
    }
  }

  /** @throws GuardrailBlockedError, or CheckerError when one cannot judge */
  async checkFrames(frames: readonly Picture[], signal?: AbortSignal): Promise<void> {
    for (const checker of this.#frames) {
      await this.#judge(checker.name, 'frames', () => checker.checkFrames(frames, signal));
    }
  }

  async #judge(
    checker: string,
    subject: Decision['subject'],
    ask: () => ReturnType<PromptChecker['checkPrompt']>,
  ): Promise<void> {
    const begin = performance.now();
    const decide = (outcome: Decision['outcome'], category: string | null) =>
      this.#onDecision({ checker, subject, outcome, category, seconds: (performance.now() - begin) / 1000 });
    let verdict: Awaited<ReturnType<PromptChecker['checkPrompt']>>;
    try {
      verdict = await ask();
    } catch (error) {
      decide('error', null);
      throw error instanceof CheckerError ? error : new CheckerError(checker, String(error), { cause: error });
    }
    decide(verdict.isSafe ? 'passed' : 'blocked', verdict.category);
    if (!verdict.isSafe) throw new GuardrailBlockedError(checker, verdict.category);
  }
}
