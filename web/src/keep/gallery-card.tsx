// One job in the gallery: a small picture, its words, its state, and what can be done with it.
import { memo } from 'preact/compat';
import { useState } from 'preact/hooks';
import type { Job } from '../../../src/protocol/index.js';
import { hrefOf } from '../app/router.js';
import { useStore } from '../store/store-context.js';
import { formatDate, formatSeconds } from '../texts/format.js';
import { t, tMaybe } from '../texts/t.js';
import { Icon, IconButton } from '../ui/index.js';

/** What a card can ask for. */
export interface CardActions {
  readonly onFavourite: (job: Job) => void;
  readonly onChoose: (job: Job) => void;
  readonly onDelete: (job: Job) => void;
  /** Its picture's address is too old. */
  readonly onStale: (job: Job) => void;
}

export interface GalleryCardProps extends CardActions {
  readonly job: Job;
  readonly isFavourite: boolean;
  /** Chosen for a comparison. */
  readonly isChosen: boolean;
  /** The one card of the grid that the Tab key reaches. */
  readonly isCurrent: boolean;
}

/** The card. */
export const GalleryCard = memo(Card);

function Card({ job, isFavourite, isChosen, isCurrent, onFavourite, onChoose, onDelete, onStale }: GalleryCardProps) {
  const store = useStore();
  const tabIndex = isCurrent ? 0 : -1;
  // What runs is followed live; what is over does not change.
  const isOpen = job.status === 'queued' || job.status === 'in_progress';
  const live = isOpen ? (store.job(job.id).value?.record ?? job) : job;
  const result = job.artifacts.find(({ variant }) => variant === 'video' || variant === 'image');
  return (
    <article class={`keep-card${isChosen ? ' keep-chosen' : ''}`} aria-label={job.prompt}>
      <a class="keep-link" href={hrefOf({ name: 'job', id: job.id })} tabIndex={tabIndex} data-card={job.id}>
        <span class="keep-picture">
          <Thumbnail job={job} onStale={onStale} />
          {job.kind !== 'image' && (job.duration_s ?? 0) > 0 && (
            <span class="keep-length">{formatSeconds(job.duration_s ?? 0)}</span>
          )}
        </span>
        <span class="keep-prompt">{job.prompt}</span>
      </a>
      <p class="keep-facts muted small">{factsOf(live)}</p>
      <div class="row keep-buttons">
        <IconButton
          label={t('keep.favourite')}
          icon="star"
          isPressed={isFavourite}
          tabIndex={tabIndex}
          onClick={() => onFavourite(job)}
        />
        <IconButton
          label={t('keep.choose')}
          icon="compare"
          isPressed={isChosen}
          disabled={result === undefined}
          tabIndex={tabIndex}
          onClick={() => onChoose(job)}
        />
        {result && (
          <a
            class="icon-button"
            href={result.url}
            download=""
            aria-label={t('keep.download')}
            title={t('keep.download')}
            tabIndex={tabIndex}
          >
            <Icon name="download" />
          </a>
        )}
        <span class="push" />
        <IconButton label={t('keep.delete')} icon="trash" tabIndex={tabIndex} onClick={() => onDelete(job)} />
      </div>
    </article>
  );
}

function Thumbnail({ job, onStale }: { readonly job: Job; readonly onStale: (job: Job) => void }) {
  const [broken, setBroken] = useState<string | null>(null);
  const url = job.thumbnail_url;
  if (url === null || broken === url) {
    return (
      <span class={`keep-none keep-${job.status}`}>
        <Icon name={iconOf(job)} />
        {job.status !== 'completed' && t(`status.${job.status}`)}
      </span>
    );
  }
  return (
    <img
      src={url}
      alt=""
      loading="lazy"
      decoding="async"
      onError={() => {
        setBroken(url);
        onStale(job);
      }}
    />
  );
}

function iconOf({ status, kind, has_action }: Job) {
  if (status === 'failed') return 'alert';
  if (status === 'cancelled') return 'stop';
  if (has_action) return 'plot';
  return kind === 'image' ? 'image' : 'film';
}

function factsOf({ task, status, created_at, progress }: Job): string {
  const what = task === null ? null : (tMaybe(`task.${task}`) ?? task);
  const state =
    status === 'completed' ? null : status === 'in_progress' ? t('keep.running', { progress }) : t(`status.${status}`);
  return [what, state, formatDate(created_at)].filter((part) => part !== null).join(' · ');
}
