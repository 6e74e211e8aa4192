// Text to token ids and back: a thin door to the tokenizer and template libraries, with the framing the networks were trained on.
import { Tokenizer as Library } from '@huggingface/tokenizers';
import { type ChatMessage, chatTemplate, type RenderChat, type RenderOptions } from './chat-template.js';
import { TokenizerError } from './tokenizer-error.js';
import { readTokenizerFiles, type TokenizerFiles } from './tokenizer-files.js';

/** Tokens that end every prompt: the end of a turn, then the start of the media. */
const framing = ['<|im_end|>', '<|vision_start|>'] as const;

export interface Prompt {
  /** Instructions in front of the user's text; without them there is no system turn. */
  readonly system?: string | undefined;
  readonly user: string;
  /** Most ids the rendered chat may take, at least 1; the two framing ids come on top. */
  readonly maxSequenceLength: number;
}

export interface PromptTokens {
  /** [n] the rendered chat, cut to `maxSequenceLength`, then the two framing ids. */
  readonly ids: Int32Array;
  /** What the model reads, framing included; of a cut prompt what is left of it. */
  readonly text: string;
  readonly truncated: boolean;
  /** Ids of the whole rendered chat, before the cut and without the framing. */
  readonly fullLength: number;
}

/**
 * Loads the tokenizer of a folder: tokenizer.json, tokenizer_config.json (optional), and the chat template
 * (chat_template.jinja, else the one inside tokenizer_config.json). Takes half a second for a vocabulary of 150 000.
 * @throws TokenizerError naming the file and the remedy when tokenizer.json is missing or any of them is broken.
 */
export function loadTokenizer(folder: string): Tokenizer {
  return new Tokenizer(readTokenizerFiles(folder));
}

/** A vocabulary with its chat template. Loaded once, used for any number of prompts. */
export class Tokenizer {
  readonly #library: Library;
  readonly #path: string;
  readonly #render: RenderChat;

  /** See `loadTokenizer`. */
  constructor(files: TokenizerFiles) {
    this.#path = files.tokenizer.path;
    try {
      this.#library = new Library(files.tokenizer.content, files.config.content);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new TokenizerError(this.#path, `it is not a usable tokenizer: ${reason}; fetch the checkpoint again`, {
        cause,
      });
    }
    this.#render = chatTemplate(files);
  }

  /** Ids of a text as it stands: nothing is added; special tokens written out in it become their ids. */
  encode(text: string): number[] {
    return this.#library.encode(text, { add_special_tokens: false }).ids;
  }

  /** Text of ids, special tokens written out. */
  decode(ids: Iterable<number>): string {
    const list = [...ids];
    // The library refuses an empty list.
    if (list.length === 0) return '';
    return this.#library.decode(list, { skip_special_tokens: false, clean_up_tokenization_spaces: false });
  }

  /**
   * Id of a token by its name.
   * @throws TokenizerError when the vocabulary lacks it.
   */
  tokenId(token: string): number {
    const id = this.#library.token_to_id(token);
    if (id === undefined)
      throw new TokenizerError(
        this.#path,
        `the vocabulary has no token ${token}; use the checkpoint's own text_tokenizer`,
      );
    return id;
  }

  /**
   * Text of a conversation by the chat template.
   * @throws TokenizerError when there is no template, or it refuses the messages.
   */
  renderChat(messages: readonly ChatMessage[], options: RenderOptions): string {
    return this.#render(messages, options);
  }

  /**
   * Ids of a prompt as the networks expect them: system and user turn by the chat template, the assistant's turn opened,
   * cut to `maxSequenceLength` ids, then `<|im_end|>` and `<|vision_start|>`.
   * @throws RangeError for a `maxSequenceLength` that is no whole number >= 1
   * @throws TokenizerError when the vocabulary lacks a framing token or there is no chat template.
   */
  promptTokens({ system, user, maxSequenceLength }: Prompt): PromptTokens {
    if (!Number.isSafeInteger(maxSequenceLength) || maxSequenceLength < 1)
      throw new RangeError(`maxSequenceLength is ${maxSequenceLength}; it must be a whole number of at least 1`);
    const frame = framing.map((token) => this.tokenId(token));
    const messages: ChatMessage[] = [{ role: 'user', content: user }];
    if (system !== undefined) messages.unshift({ role: 'system', content: system });
    const rendered = this.renderChat(messages, { addGenerationPrompt: true });
    const full = this.encode(rendered);
    const truncated = full.length > maxSequenceLength;
    const ids = Int32Array.from([...full.slice(0, maxSequenceLength), ...frame]);
    const text = truncated ? this.decode(ids) : rendered + framing.join('');
    return { ids, text, truncated, fullLength: full.length };
  }
}
