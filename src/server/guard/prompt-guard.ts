// The guardrails of the server: which checks run, counted and logged.
import { describeDecision, type Guard, openGuard } from '../../engine/safety/guard.js';
import type { Logger } from '../operation/logging.js';
import type { Metrics } from '../operation/metrics.js';
import type { GuardSettings } from '../options/settings.js';

/** Checks prompts of requests. */
export interface PromptGuard extends Pick<Guard, 'isEnabled' | 'promptCheckers' | 'frameCheckers' | 'notes'> {
  /**
   * @param isWanted false where the request turns its checks off
   * @throws RequestError `prompt_blocked` or `unavailable`
   */
  check(prompt: string, isWanted: boolean): Promise<void>;
}

/**
 * Opens the guardrails of a server.
 * @throws GuardrailMissingError when the checkpoint needs a guard model and none is given
 */
export function openPromptGuard(
  settings: GuardSettings,
  needsModel: boolean,
  { log, metrics }: { readonly log: Logger; readonly metrics: Metrics },
): PromptGuard {
  const guard = openGuard(
    {
      isEnabled: settings.isEnabled,
      blocklists: settings.blocklists,
      url: settings.url,
      model: settings.model,
      key: settings.key,
      framesUrl: settings.framesUrl,
      timeoutMs: settings.timeoutSeconds * 1000,
      onDecision: (decision) => {
        metrics.judged(decision);
        const level = decision.outcome === 'passed' ? 'debug' : 'warn';
        log[level](describeDecision(decision), 'guardrail decision');
      },
    },
    needsModel,
  );
  const { isEnabled, promptCheckers, frameCheckers, notes } = guard;
  return {
    isEnabled,
    promptCheckers,
    frameCheckers,
    notes,
    async check(prompt, isWanted) {
      if (!isEnabled) return;
      if (!isWanted) {
        metrics.unguarded();
        return;
      }
      try {
        await guard.checkPrompt(prompt);
      } catch (error) {
        if (settings.logsPrompts) log.warn({ prompt }, 'prompt refused');
        throw error;
      }
    },
  };
}
