// The room's door.
export type { ChatMessage, RenderOptions } from './chat-template.js';
export { loadTokenizer, type Prompt, type PromptTokens, Tokenizer } from './tokenizer.js';
export { TokenizerError } from './tokenizer-error.js';
