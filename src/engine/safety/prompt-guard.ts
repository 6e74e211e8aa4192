// The guard of a process that generates for its own user: the bundled word list, and an endpoint where the settings name one.
import type { EngineConfig } from '../config.js';
import { type Guard, openGuard } from './guard.js';

/** Opens it. @throws Error for an address that is none */
export function openPromptGuard({ guardrailUrl, guardrailModel, guardrailKey }: EngineConfig): Guard {
  return openGuard({ isEnabled: true, url: guardrailUrl, model: guardrailModel, key: guardrailKey }, false);
}
