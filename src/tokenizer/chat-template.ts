// A checkpoint's chat template: messages to the text the model was trained on.
import { Template } from '@huggingface/jinja';
import { TokenizerError } from './tokenizer-error.js';
import { isObject, type TokenizerFiles } from './tokenizer-files.js';

/** One turn of a conversation. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface RenderOptions {
  /** Whether the text ends in the opening of the assistant's turn. */
  readonly addGenerationPrompt: boolean;
}

/** Renders messages; see `chatTemplate`. */
export type RenderChat = (messages: readonly ChatMessage[], options: RenderOptions) => string;

/** Names a template may use, as tokenizer_config.json has them: strings, or objects with their text as `content`. */
const specialTokens = ['bos_token', 'eos_token', 'pad_token', 'unk_token'];

/**
 * Compiles the chat template of a tokenizer folder. A folder without a template yields a function that throws when called:
 * such a tokenizer can still encode.
 * @throws TokenizerError when the template does not parse; the function throws it when the template does not render.
 */
export function chatTemplate({ config, chatTemplate }: TokenizerFiles): RenderChat {
  if (!chatTemplate) {
    return () => {
      throw new TokenizerError(
        config.path,
        'it has no "chat_template", and there is no chat_template.jinja beside it; copy the one of the published checkpoint there',
      );
    };
  }
  const { path, source } = chatTemplate;
  const template = attempt(path, 'parse', () => new Template(source));
  const names: Record<string, string> = {};
  for (const name of specialTokens) {
    const value = config.content[name];
    const text = isObject(value) ? value.content : value;
    if (typeof text === 'string') names[name] = text;
  }
  return (messages, { addGenerationPrompt }) =>
    attempt(path, 'render', () =>
      template.render({ ...names, messages: [...messages], add_generation_prompt: addGenerationPrompt }),
    );
}

function attempt<T>(path: string, what: 'parse' | 'render', run: () => T): T {
  try {
    return run();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TokenizerError(path, `the chat template does not ${what}: ${reason}; restore the published one`, {
      cause,
    });
  }
}
