// Make: one form for everything, beside it what it will cost and what is being made.
import { useComputed } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ModelDetails } from '../../../src/protocol/index.js';
import { useStore } from '../store/store-context.js';
import { t } from '../texts/t.js';
import { Notice, Spinner } from '../ui/index.js';
import { RecentJobs } from '../watch/recent-jobs.js';
import { addFiles } from './add-files.js';
import { CostPanel } from './cost-panel.js';
import { loadJob, resetDraft, useDraft } from './draft.js';
import { MakeForm } from './make-form.js';
import { missingInput, type Role, taskFor } from './task-inputs.js';
import { readDraft } from './to-form.js';
import { type Problem, usePlan } from './use-plan.js';
import './make.css';

/** The page on which things are made. */
export function MakeView() {
  const { model } = useStore();
  return (
    <>
      <h1 class="visually-hidden">{t('make.title')}</h1>
      {model.value ? <Maker model={model.value} /> : <Spinner label={t('app.loading')} />}
    </>
  );
}

function Maker({ model }: { readonly model: ModelDetails }) {
  const store = useStore();
  const draft = useDraft();
  const keys = useRef(Date.now());
  const [isOver, setOver] = useState(false);
  const [refused, setRefused] = useState<Problem | null>(null);
  const [focus, setFocus] = useState<string | undefined>(undefined);
  const read = useComputed(() => readDraft(draft, model));
  const task = draft.task.value;
  const inputs = draft.inputs.value;
  const words = draft.values.value.prompt ?? '';
  const roles = inputs.filter(({ state }) => state === 'ready').map(({ role }) => role);
  const missing = missingInput(task, roles);
  const live = usePlan(
    read,
    words.trim() !== '' && missing === null && inputs.every(({ state }) => state !== 'sending'),
  );
  const nextKey = () => {
    keys.current += 1;
    return keys.current;
  };
  const onFiles = (files: readonly File[], role?: Role) => void addFiles(files, { draft, store, nextKey }, role);

  const again = store.pendingAgain.value;
  useEffect(() => {
    if (again === null) return;
    loadJob(draft, again.job, nextKey);
    setFocus(again.focus ?? 'prompt');
    store.pendingAgain.value = null;
  }, [again]);
  const picture = store.pendingPicture.value;
  useEffect(() => {
    if (picture === null) return;
    resetDraft(draft);
    draft.task.value = taskFor(['image'], draft.task.value);
    onFiles([picture], 'image');
    setFocus('prompt');
    store.pendingPicture.value = null;
  }, [picture]);
  // A refusal belongs to the request that was refused: another word, and it is gone.
  const text = JSON.stringify(read.value.form);
  useEffect(() => setRefused(null), [text]);

  return (
    <section
      class={`make${isOver ? ' make-over' : ''}`}
      aria-label={t('make.title')}
      onDragOver={(event) => {
        if (!event.dataTransfer?.types.includes('Files')) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={(event) => {
        if (!(event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget))) setOver(false);
      }}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onFiles([...(event.dataTransfer?.files ?? [])]);
      }}
      onPaste={(event) => {
        const files = [...(event.clipboardData?.files ?? [])];
        if (files.length > 0) {
          event.preventDefault();
          onFiles(files);
        }
      }}
    >
      {isOver && <p class="make-drop">{t('make.dropHere')}</p>}
      <MakeForm
        draft={draft}
        model={model}
        read={read}
        live={live}
        refused={refused}
        onRefused={setRefused}
        onFiles={onFiles}
        focus={focus}
        onFocused={() => setFocus(undefined)}
      />
      <div class="stack">
        <CostPanel live={live} pending={missing ? t(`make.needs.${missing}`) : t('make.costPending')} />
        {live.problem && live.problem.param === null && <Notice kind="error">{live.problem.message}</Notice>}
        <RecentJobs />
      </div>
    </section>
  );
}
