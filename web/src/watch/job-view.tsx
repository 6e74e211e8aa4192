// One job: while it runs, its picture as it grows; once it is done, the result.
import { useEffect, useState } from 'preact/hooks';
import { isTaskName } from '../../../src/protocol/index.js';
import { LazyView } from '../app/lazy-view.js';
import { hrefOf } from '../app/router.js';
import { useStore } from '../store/store-context.js';
import { describeError } from '../store/toasts.js';
import type { JobState } from '../store/types.js';
import { t } from '../texts/t.js';
import { EmptyState, LinkButton, Notice, Progress, Spinner } from '../ui/index.js';
import { AgainButton, CancelButton } from './job-card.js';
import { leftWords, sizeWords, stateWords } from './job-words.js';
import { LivePicture } from './live-picture.js';
import './watch.css';

const loadResult = () => import('../see/result-view.js').then(({ ResultView }) => ResultView);

/** The page of a job. */
export function JobView({ id }: { readonly id: string }) {
  const store = useStore();
  const state = store.job(id).value;
  const [error, setError] = useState<string | null>(null);
  const isLive = store.connection.value === 'live';
  // Opened from elsewhere, or after a pause: the record and its signed addresses are fetched anew.
  useEffect(() => {
    store.load(id).then(
      () => setError(null),
      (reason: unknown) => setError(describeError(reason)),
    );
  }, [id, isLive]);
  if (state === undefined) {
    if (error === null) return <Spinner label={t('app.loading')} />;
    return (
      <EmptyState title={t('watch.notFound')} text={error}>
        <LinkButton href={hrefOf({ name: 'make' })}>{t('app.back')}</LinkButton>
      </EmptyState>
    );
  }
  const { record } = state;
  const isReady = record.status === 'completed' && (record.artifacts.length > 0 || record.has_action);
  return (
    <article class="stack">
      <h1 class="watch-prompt">{record.prompt}</h1>
      {isReady ? <LazyView load={loadResult} props={{ jobId: id }} /> : <Running state={state} />}
    </article>
  );
}

function Running({ state }: { readonly state: JobState }) {
  const { record } = state;
  const { id, status, error } = record;
  const isOpen = status === 'queued' || status === 'in_progress' || status === 'completed';
  return (
    <div class="watch-running">
      <LivePicture state={state} />
      <div class="stack">
        <p class="muted">{[record.task && taskWords(record.task), sizeWords(state)].filter(Boolean).join(' · ')}</p>
        {isOpen && (
          <>
            <p class="watch-state" role="status">
              {stateWords(state)}
            </p>
            <Progress
              value={status === 'queued' ? 0 : (record.progress_detail?.fraction ?? (status === 'completed' ? 1 : 0))}
              label={t('watch.progress', { prompt: record.prompt.slice(0, 80) })}
            />
            <p class="muted watch-left">{leftWords(state)}</p>
          </>
        )}
        {status === 'failed' && (
          <Notice kind="error">
            <strong>{t('watch.failed')}</strong>
            <p>{error?.message}</p>
            {error && error.crashes.length > 0 && <p>{t('watch.crashes', { count: error.crashes.length })}</p>}
          </Notice>
        )}
        {status === 'cancelled' && <Notice kind="info">{t('watch.cancelled')}</Notice>}
        <div class="row">{isOpen ? <CancelButton id={id} /> : <AgainButton id={id} />}</div>
      </div>
    </div>
  );
}

function taskWords(task: string): string {
  return isTaskName(task) ? t(`task.${task}`) : task;
}
