// A guard model behind an OpenAI-compatible endpoint: moderations, or the chat of a guard model such as Llama Guard or Qwen3Guard.
import { CheckerError, type FrameChecker, type Picture, type PromptChecker, safe, type Verdict } from './checker.js';

/** An endpoint and how to ask it. */
export interface EndpointOptions {
  /** `…/moderations`, `…/chat/completions`, or the address of the interface (`…/v1`). */
  readonly url: string;
  readonly model?: string | null | undefined;
  readonly key?: string | null | undefined;
  readonly timeoutMs: number;
  readonly fetch?: typeof fetch | undefined;
}

type Part = { readonly type: string; readonly [name: string]: unknown };

/** Asks an endpoint. An answer that says nothing is an error, never a yes. */
export class EndpointChecker implements PromptChecker, FrameChecker {
  readonly name: string;
  readonly isModel = true;
  readonly #options: EndpointOptions;
  readonly #address: URL;
  readonly #isChat: boolean;

  /** @throws Error when the address is none, or chat has no model named */
  constructor(options: EndpointOptions) {
    this.#options = options;
    this.#address = readAddress(options);
    this.#isChat = this.#address.pathname.endsWith('/chat/completions');
    if (this.#isChat && !options.model) {
      throw new Error(`${options.url} is a chat endpoint; name the guard model that it is to use (--guardrail-model)`);
    }
    this.name = options.model ?? this.#address.host;
  }

  checkPrompt(prompt: string, signal?: AbortSignal): Promise<Verdict> {
    return this.#ask(prompt, signal);
  }

  async checkFrames(frames: readonly Picture[], signal?: AbortSignal): Promise<Verdict> {
    for (const { bytes, mediaType } of frames) {
      const url = `data:${mediaType};base64,${Buffer.from(bytes).toString('base64')}`;
      const verdict = await this.#ask([{ type: 'image_url', image_url: { url } }], signal);
      if (!verdict.isSafe) return verdict;
    }
    return safe;
  }

  async #ask(content: string | readonly Part[], signal: AbortSignal | undefined): Promise<Verdict> {
    const { model } = this.#options;
    const named = model ? { model } : {};
    const body = this.#isChat
      ? { ...named, messages: [{ role: 'user', content }], temperature: 0, max_tokens: 64 }
      : { ...named, input: content };
    const answer = await this.#post(body, signal);
    return this.#isChat ? this.#readChat(answer) : this.#readModeration(answer);
  }

  async #post(body: object, signal: AbortSignal | undefined): Promise<unknown> {
    const { key, timeoutMs, fetch: send = globalThis.fetch } = this.#options;
    const deadline = AbortSignal.timeout(timeoutMs);
    try {
      const response = await send(this.#address, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) },
        body: JSON.stringify(body),
        redirect: 'error',
        signal: signal ? AbortSignal.any([deadline, signal]) : deadline,
      });
      const text = await response.text();
      if (!response.ok) throw new CheckerError(this.name, `it answered HTTP ${response.status}`);
      const answer: unknown = JSON.parse(text);
      return answer;
    } catch (error) {
      if (error instanceof CheckerError) throw error;
      const why = deadline.aborted ? `it took longer than ${timeoutMs / 1000} s` : describe(error);
      throw new CheckerError(this.name, why, { cause: error });
    }
  }

  #readModeration(answer: unknown): Verdict {
    const results = memberOf(answer, 'results');
    if (!Array.isArray(results) || results.length === 0)
      throw new CheckerError(this.name, 'it answered without results');
    for (const result of results) {
      const flagged: unknown = memberOf(result, 'flagged');
      if (typeof flagged !== 'boolean') throw new CheckerError(this.name, 'it answered without a judgement');
      if (!flagged) continue;
      const categories: unknown = memberOf(result, 'categories');
      const named = isRecord(categories) ? Object.keys(categories).filter((name) => categories[name] === true) : [];
      return { isSafe: false, category: named.join(', ') || 'flagged' };
    }
    return safe;
  }

  #readChat(answer: unknown): Verdict {
    const choices = memberOf(answer, 'choices');
    const text: unknown = memberOf(memberOf(Array.isArray(choices) ? choices[0] : null, 'message'), 'content');
    const verdict = typeof text === 'string' ? readGuardWords(text) : null;
    if (verdict === null) throw new CheckerError(this.name, 'its words are neither safe nor unsafe');
    return verdict;
  }
}

/**
 * What a guard model's words mean: `safe` and `unsafe` with a category line (Llama Guard), `Safety: Unsafe` with
 * `Categories: …` (Qwen3Guard, whose `Controversial` counts as unsafe). Null where they mean neither.
 */
export function readGuardWords(text: string): Verdict | null {
  const words = text.replace(/<think>[\s\S]*?<\/think>/g, '').trim();
  const [, judgement] = /^\s*(?:Safety|Safety Label|Severity Level)\s*:\s*(\w+)/im.exec(words) ?? [];
  const [, bare] = /^(safe|unsafe)\b/i.exec(words) ?? [];
  switch ((judgement ?? bare)?.toLowerCase()) {
    case 'safe':
      return safe;
    case 'unsafe':
    case 'controversial': {
      const [, named] = /^\s*Categories\s*:\s*(.+)$/im.exec(words) ?? [];
      const [, second] = /^unsafe\s*\n\s*(.+)$/i.exec(words) ?? [];
      return { isSafe: false, category: (named ?? second ?? 'unsafe').trim().slice(0, 100) };
    }
    default:
      return null;
  }
}

function readAddress({ url, model }: EndpointOptions): URL {
  let address: URL;
  try {
    address = new URL(url);
  } catch {
    throw new Error(
      `${url} is no URL; give that of a moderation or chat endpoint, as http://localhost:9000/v1/moderations`,
    );
  }
  if (!/^https?:$/.test(address.protocol)) throw new Error(`${url} must be an http(s) URL`);
  if (!/\/(moderations|chat\/completions)\/?$/.test(address.pathname)) {
    address.pathname = `${address.pathname.replace(/\/+$/, '')}/${model ? 'chat/completions' : 'moderations'}`;
  }
  address.pathname = address.pathname.replace(/\/+$/, '');
  return address;
}

function memberOf(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause.message : '';
  return cause === '' ? error.message : `${error.message} (${cause})`;
}
