// All jobs of the server: searched, looked at, kept in sight, compared, taken along, deleted.
import './keep.css';
import { useCallback, useState } from 'preact/hooks';
import type { Job } from '../../../src/protocol/index.js';
import { goTo, hrefOf, useRoute } from '../app/router.js';
import { useStore } from '../store/store-context.js';
import { describeError } from '../store/toasts.js';
import { formatNumber } from '../texts/format.js';
import { t } from '../texts/t.js';
import { Button, Confirm, EmptyState, LinkButton, Notice, Spinner } from '../ui/index.js';
import { FilterBar } from './filter-bar.js';
import { addressOf, filterOf, noFilter } from './gallery-filter.js';
import { GalleryGrid } from './gallery-grid.js';
import type { Listing } from './listing.js';
import { useListing } from './use-listing.js';

/** The view of the gallery. What is searched for stands in the address. */
export function Gallery() {
  const store = useStore();
  const route = useRoute();
  const filter = filterOf(route.name === 'gallery' ? (route.query ?? {}) : {});
  const listing = useListing(filter);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [doomed, setDoomed] = useState<Job | null>(null);
  const [deletions, setDeletions] = useState(0);
  const { favourites } = store.settings;

  const onFavourite = useCallback((job: Job) => store.settings.toggleFavourite(job.id), [store]);
  const onChoose = useCallback(
    (job: Job) =>
      setChosen((before) =>
        before.includes(job.id) ? before.filter((id) => id !== job.id) : [...before, job.id].slice(-2),
      ),
    [],
  );
  const onStale = useCallback(
    (job: Job) => {
      // A deleted job answers 404: its event takes it away.
      store.client.job(job.id).then(listing.replace, () => undefined);
    },
    [store, listing],
  );
  const remove = async (job: Job) => {
    try {
      await store.remove(job.id);
      listing.drop(job.id);
      setDeletions((count) => count + 1);
      setChosen((before) => before.filter((id) => id !== job.id));
      if (favourites.value.has(job.id)) store.settings.toggleFavourite(job.id);
      store.toasts.show({ kind: 'success', text: t('keep.deleted') });
    } catch (error) {
      store.toasts.error(error);
    }
  };
  return (
    <div class="stack">
      <h1>{t('keep.title')}</h1>
      <FilterBar filter={filter} onChange={(next) => goTo({ name: 'gallery', query: addressOf(next) }, true)} />
      <ListState listing={listing} isFiltered={JSON.stringify(filter) !== JSON.stringify(noFilter)} />
      <GalleryGrid
        key={JSON.stringify(filter)}
        listing={listing}
        favourites={favourites.value}
        chosen={chosen}
        deletions={deletions}
        onFavourite={onFavourite}
        onChoose={onChoose}
        onDelete={setDoomed}
        onStale={onStale}
      />
      {chosen.length > 0 && <ChosenBar chosen={chosen} onClear={() => setChosen([])} />}
      <Confirm
        isOpen={doomed !== null}
        title={t('see.deleteTitle')}
        text={doomed === null ? '' : t('keep.deleteText', { prompt: doomed.prompt })}
        action={t('keep.delete')}
        onConfirm={() => doomed && void remove(doomed)}
        onClose={() => setDoomed(null)}
      />
    </div>
  );
}

/** How many there are, what goes on, and what to do where there is nothing. */
function ListState({ listing, isFiltered }: { readonly listing: Listing; readonly isFiltered: boolean }) {
  const total = listing.total.value;
  const error = listing.error.value;
  const isLoading = listing.isLoading.value;
  const isEmpty = total === 0 && !isLoading && error === null;
  return (
    <>
      <div class="row keep-state">
        <p class="muted" role="status">
          {total > 0 && t('keep.found', { count: total, total: formatNumber(total) })}
        </p>
        {total > 0 && (
          <>
            <span class="push" />
            <p class="muted small keep-keys">{t('keep.keys')}</p>
          </>
        )}
        {isLoading && total === 0 && <Spinner label={t('keep.loading')} />}
      </div>
      {error !== null && (
        <Notice kind="error">
          <p>{describeError(error)}</p>
          <Button onClick={() => void listing.refresh()}>{t('keep.retry')}</Button>
        </Notice>
      )}
      {isEmpty && isFiltered && <EmptyState title={t('keep.nothingFound')} text={t('keep.nothingFoundText')} />}
      {isEmpty && !isFiltered && (
        <EmptyState title={t('keep.empty')} text={t('keep.emptyText')}>
          <LinkButton href={hrefOf({ name: 'make' })} kind="primary">
            {t('nav.make')}
          </LinkButton>
        </EmptyState>
      )}
    </>
  );
}

function ChosenBar({ chosen, onClear }: { readonly chosen: readonly string[]; readonly onClear: () => void }) {
  return (
    <div class="keep-bar card row" role="status">
      <span>{t('keep.chosen', { count: chosen.length })}</span>
      <span class="push" />
      <Button kind="quiet" onClick={onClear}>
        {t('keep.chooseNone')}
      </Button>
      {chosen.length === 2 && (
        <LinkButton href={hrefOf({ name: 'compare', ids: chosen })} kind="primary" icon="compare">
          {t('keep.compare')}
        </LinkButton>
      )}
    </div>
  );
}
