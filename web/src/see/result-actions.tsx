// What can be done with a result: make it again, compare it, keep it in sight, delete it.
import { useState } from 'preact/hooks';
import type { Job } from '../../../src/protocol/index.js';
import { goTo, hrefOf } from '../app/router.js';
import { useStore } from '../store/store-context.js';
import { t } from '../texts/t.js';
import { Button, Confirm, IconButton, LinkButton } from '../ui/index.js';
import { frameFile } from './frame-file.js';
import type { Media } from './media-of.js';
import type { Playback } from './player/playback.js';
import { resultPart } from './result-stage.js';
import { saveFile } from './save-file.js';

export interface ResultActionsProps {
  readonly job: Job;
  /** Null where it has made actions alone. */
  readonly media: Media | null;
  readonly playback: Playback;
}

/** The row of buttons. */
export function ResultActions({ job, media, playback }: ResultActionsProps) {
  const store = useStore();
  const [asks, setAsks] = useState(false);
  const isFavourite = store.settings.favourites.value.has(job.id);
  const remove = async () => {
    try {
      await store.remove(job.id);
      if (isFavourite) store.settings.toggleFavourite(job.id);
      store.toasts.show({ kind: 'success', text: t('see.deleted') });
      goTo({ name: 'gallery' }, true);
    } catch (error) {
      store.toasts.error(error);
    }
  };
  const withFrame = async (shown: Media, use: (file: File) => void) => {
    playback.pause();
    try {
      use(await frameFile(shown, playback, resultPart, job.id));
    } catch (error) {
      store.toasts.error(error);
    }
  };
  return (
    <fieldset class="row" aria-label={t('see.actionsOnResult')}>
      <Button kind="primary" icon="reset" onClick={() => store.again(job, 'prompt')}>
        {t('see.again')}
      </Button>
      <Button icon="dice" onClick={() => store.again(job, 'seed')}>
        {t('see.againSeed')}
      </Button>
      {media && (
        <Button icon="film" onClick={() => void withFrame(media, store.begin)}>
          {t(media.kind === 'clip' ? 'see.beginFrame' : 'see.beginPicture')}
        </Button>
      )}
      <LinkButton href={hrefOf({ name: 'compare', ids: [job.id] })} icon="compare">
        {t('see.compareWith')}
      </LinkButton>
      <span class="push" />
      {media?.kind === 'clip' && (
        <IconButton label={t('see.saveFrame')} icon="image" onClick={() => void withFrame(media, saveFile)} />
      )}
      <IconButton
        label={t('see.favourite')}
        icon="star"
        isPressed={isFavourite}
        onClick={() => store.settings.toggleFavourite(job.id)}
      />
      <IconButton label={t('see.delete')} icon="trash" onClick={() => setAsks(true)} />
      <Confirm
        isOpen={asks}
        title={t('see.deleteTitle')}
        text={t('see.deleteText')}
        action={t('see.delete')}
        onConfirm={() => void remove()}
        onClose={() => setAsks(false)}
      />
    </fieldset>
  );
}
