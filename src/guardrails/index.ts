// The guardrails' door: what is checked before and after.
export { Blocklist, bundledBlocklists, readBlocklist, type WordList } from './blocklist.js';
export { CheckerError, type FrameChecker, type Picture, type PromptChecker, type Verdict } from './checker.js';
export { EndpointChecker, type EndpointOptions, readGuardWords } from './endpoint-checker.js';
export {
  type Decision,
  GuardrailBlockedError,
  GuardrailMissingError,
  type GuardrailOptions,
  Guardrails,
} from './guardrails.js';
