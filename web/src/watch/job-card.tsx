// A job in short: picture, words, bar, and what can be done with it.
import { useState } from 'preact/hooks';
import { hrefOf } from '../app/router.js';
import { isOver } from '../store/job-states.js';
import { useStore } from '../store/store-context.js';
import { t } from '../texts/t.js';
import { Button, LinkButton, Progress } from '../ui/index.js';
import { leftWords, sizeWords, stateWords } from './job-words.js';
import { LivePicture } from './live-picture.js';

/** A card that keeps its size whatever happens to the job. */
export function JobCard({ id }: { readonly id: string }) {
  const state = useStore().job(id).value;
  if (state === undefined) return null;
  const { record } = state;
  const short = record.prompt.slice(0, 80);
  return (
    <li class={`watch-card watch-${record.status}`} data-job={id}>
      <a class="watch-card-picture" href={hrefOf({ name: 'job', id })} aria-label={`${t('watch.open')}: ${short}`}>
        <LivePicture state={state} />
      </a>
      <div class="watch-card-words">
        <p class="watch-card-prompt">{record.prompt}</p>
        <p class="muted small">{sizeWords(state)}</p>
        {isOver(record) ? (
          <p class={`small watch-state-${record.status}`}>{record.error?.message ?? stateWords(state)}</p>
        ) : (
          <>
            <p class="small">{[stateWords(state), leftWords(state)].filter((part) => part !== '').join(' · ')}</p>
            <Progress
              value={record.status === 'queued' ? 0 : (record.progress_detail?.fraction ?? 0)}
              label={t('watch.progress', { prompt: short })}
            />
          </>
        )}
      </div>
      <div class="row">
        {isOver(record) ? <AgainButton id={id} /> : <CancelButton id={id} />}
        <LinkButton kind="quiet" href={hrefOf({ name: 'job', id })}>
          {t('watch.open')}
        </LinkButton>
      </div>
    </li>
  );
}

/** Ends a job that waits or runs. */
export function CancelButton({ id }: { readonly id: string }) {
  const store = useStore();
  const [isBusy, setBusy] = useState(false);
  const cancel = async () => {
    setBusy(true);
    try {
      await store.cancel(id);
    } catch (error) {
      store.toasts.error(error);
      await store.load(id).catch(() => undefined);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button kind="plain" icon="stop" isBusy={isBusy} onClick={() => void cancel()}>
      {isBusy ? t('watch.cancelling') : t('watch.cancel')}
    </Button>
  );
}

/** Fills the form from a job. */
export function AgainButton({ id }: { readonly id: string }) {
  const store = useStore();
  const again = async () => {
    try {
      store.again((await store.load(id)).record);
    } catch (error) {
      store.toasts.error(error);
    }
  };
  return (
    <Button icon="loop" onClick={() => void again()}>
      {t('watch.again')}
    </Button>
  );
}
