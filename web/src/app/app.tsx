// Which view an address shows.
import { useEffect, useMemo } from 'preact/hooks';
import { createDraft, DraftContext } from '../make/draft.js';
import { MakeView } from '../make/make-view.js';
import { t } from '../texts/t.js';
import { EmptyState, LinkButton } from '../ui/index.js';
import { JobView } from '../watch/job-view.js';
import { LazyView } from './lazy-view.js';
import { hrefOf, useRoute } from './router.js';
import { Shell } from './shell.js';

const loadGallery = () => import('../keep/gallery.js').then(({ Gallery }) => Gallery);
const loadStatus = () => import('../operate/status-view.js').then(({ StatusView }) => StatusView);
const loadCompare = () => import('../see/compare-view.js').then(({ CompareView }) => CompareView);

/** The whole page. */
export function App() {
  const draft = useMemo(createDraft, []);
  return (
    <DraftContext.Provider value={draft}>
      <Shell>
        <CurrentView />
      </Shell>
    </DraftContext.Provider>
  );
}

function CurrentView() {
  const route = useRoute();
  useEffect(() => scrollTo(0, 0), [hrefOf(route).split('?')[0]]);
  switch (route.name) {
    case 'make':
      return <MakeView />;
    case 'job':
      return <JobView key={route.id} id={route.id} />;
    case 'compare':
      return <LazyView key="compare" load={loadCompare} props={{ jobIds: route.ids }} />;
    case 'gallery':
      return <LazyView key="gallery" load={loadGallery} props={{}} />;
    case 'status':
      return <LazyView key="status" load={loadStatus} props={{}} />;
    case 'unknown':
      return (
        <EmptyState title={t('app.unknown')} text="">
          <LinkButton href={hrefOf({ name: 'make' })}>{t('app.back')}</LinkButton>
        </EmptyState>
      );
    default:
      return route satisfies never;
  }
}
