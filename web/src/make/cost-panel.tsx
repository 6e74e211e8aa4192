// What the request will become and what it will cost, as far as the server can tell without making it.
import type { PlanReply } from '../../../src/protocol/index.js';
import { formatBytes, formatLarge, formatNumber, formatSeconds } from '../texts/format.js';
import { t } from '../texts/t.js';
import { isHint } from './task-inputs.js';
import type { LivePlan } from './use-plan.js';

export interface CostPanelProps {
  readonly live: LivePlan;
  /** Shown where there is no plan. */
  readonly pending: string;
}

/** The cost, live. It keeps its place while it is asked for. */
export function CostPanel({ live: { plan, isAsking }, pending }: CostPanelProps) {
  return (
    <section class="card make-cost" aria-label={t('make.cost')} aria-busy={isAsking}>
      <h2>{t('make.cost')}</h2>
      {plan ? <Numbers plan={plan} /> : <p class="muted">{pending}</p>}
    </section>
  );
}

function Numbers({ plan }: { readonly plan: PlanReply }) {
  const { width, height, num_frames: frames, duration_s: seconds, tokens, passes, transfer, action, sound } = plan;
  const rows: readonly (readonly [string, string] | null)[] = [
    [t('make.costSize'), t('unit.pixels', { width, height })],
    frames > 1 ? [t('make.costLength'), `${formatSeconds(seconds)} · ${t('unit.frames', { count: frames })}`] : null,
    sound ? [t('make.costSound'), formatSeconds(sound.duration_s)] : null,
    action ? [t('make.costActions'), t('make.rows', { count: action.rows })] : null,
    transfer ? [t('make.controls'), transfer.hints.map(hintLabel).join(', ')] : null,
    [t('make.costTokens'), formatLarge(tokens.total)],
    [t('make.costPasses'), formatNumber(passes)],
    [t('make.costMemory'), memoryOf(plan)],
    [t('make.costTime'), timeOf(plan)],
    plan.queue_seconds ? [t('make.costWait'), formatSeconds(plan.queue_seconds)] : null,
  ];
  return (
    <>
      <dl class="make-numbers">
        {rows.map((row) => row && [<dt key={row[0]}>{row[0]}</dt>, <dd key={`${row[0]} value`}>{row[1]}</dd>])}
      </dl>
      {plan.prompt.truncated && <p class="field-error">{t('make.costTruncated')}</p>}
      {plan.warnings.length > 0 && (
        <ul class="make-warnings">
          {plan.warnings.map(({ param, message }) => (
            <li key={`${param} ${message}`}>{message}</li>
          ))}
        </ul>
      )}
    </>
  );
}

function hintLabel(name: string): string {
  return isHint(name) ? t(`make.role.${name}`) : name;
}

function memoryOf({ memory_bytes: used, memory_available_bytes: all }: PlanReply): string {
  return all === null ? formatBytes(used) : t('make.costMemoryOf', { used: formatBytes(used), all: formatBytes(all) });
}

function timeOf({ seconds, seconds_basis: basis }: PlanReply): string {
  if (seconds === null) return t('make.costUnknown');
  return basis === 'scaled' ? t('make.costScaled', { time: formatSeconds(seconds) }) : formatSeconds(seconds);
}
