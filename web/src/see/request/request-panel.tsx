// How a result was asked for and how to ask for it again: the request, the Plan, and lines for three programs.
import { useState } from 'preact/hooks';
import type { Job } from '../../../../src/protocol/index.js';
import { useStore } from '../../store/store-context.js';
import { t } from '../../texts/t.js';
import { Copyable, Tabs } from '../../ui/index.js';
import { cliLine } from './cli-line.js';
import { curlLine, waitsForResult } from './curl-line.js';
import { javascriptLine } from './javascript-line.js';
import { repeatForm } from './repeat-form.js';

export interface RequestPanelProps {
  readonly job: Job;
  readonly plan: Readonly<Record<string, unknown>> | null;
}

/** The panel. */
export function RequestPanel({ job, plan }: RequestPanelProps) {
  const { model } = useStore();
  const [selected, setSelected] = useState('curl');
  const base = serverAddress();
  const tab = (id: string, label: string, write: () => string, hint?: string) => ({
    id,
    label,
    content: () => (
      <div class="stack-tight">
        <Copyable label={label} text={write()} />
        {hint !== undefined && <p class="muted small">{hint}</p>}
      </div>
    ),
  });
  const tabs = [
    tab(
      'curl',
      t('see.line.curl'),
      () => curlLine(job, base),
      t(waitsForResult(job) ? 'see.line.curlHint' : 'see.line.curlJobHint'),
    ),
    tab('javascript', t('see.line.javascript'), () => javascriptLine(job, base), t('see.line.javascriptHint')),
    tab('cli', t('see.line.cli'), () => cliLine(job, base, model.value?.root ?? null), t('see.line.cliHint')),
    tab('request', t('see.line.request'), () => JSON.stringify(repeatForm(job), null, 2)),
    tab('plan', t('see.line.plan'), () => (plan === null ? t('see.line.noPlan') : JSON.stringify(plan, null, 2))),
  ];
  return (
    <section class="card stack" aria-labelledby="see-request">
      <h2 id="see-request">{t('see.request')}</h2>
      <Tabs label={t('see.request')} tabs={tabs} selected={selected} onSelect={setSelected} />
    </section>
  );
}

/** Where the page's server is, without a slash at the end. */
function serverAddress(): string {
  return new URL('.', document.baseURI).href.replace(/\/$/, '');
}
