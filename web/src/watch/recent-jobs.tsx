// What is being made now, and what this tab has made last.
import { useComputed } from '@preact/signals';
import { isOver } from '../store/job-states.js';
import { useStore } from '../store/store-context.js';
import { t } from '../texts/t.js';
import { Switch } from '../ui/index.js';
import { JobCard } from './job-card.js';
import './watch.css';

const mostOver = 6;

/** Running and waiting jobs, oldest first, then the newest results of this tab. */
export function RecentJobs() {
  const { jobs, mine } = useStore();
  const ids = useComputed(() => {
    const running = [...jobs.value.values()]
      .filter(({ record }) => !isOver(record))
      .sort((a, b) => a.record.created_at - b.record.created_at)
      .map(({ record }) => record.id);
    const done = mine.value.filter((id) => {
      const state = jobs.value.get(id);
      return state !== undefined && isOver(state.record);
    });
    return [...running, ...done.slice(0, mostOver)].join(' ');
  });
  const list = ids.value === '' ? [] : ids.value.split(' ');
  return (
    <section class="stack" aria-label={t('make.recent')}>
      <div class="row">
        <h2>{t('make.recent')}</h2>
        <span class="push" />
        <NotifySwitch />
      </div>
      {list.length === 0 ? (
        <p class="muted">{t('make.recentEmpty')}</p>
      ) : (
        <ul class="watch-cards">
          {list.map((id) => (
            <JobCard key={id} id={id} />
          ))}
        </ul>
      )}
    </section>
  );
}

/** Asks the browser for the right to tell. */
function NotifySwitch() {
  const { settings, toasts } = useStore();
  if (typeof Notification === 'undefined') return null;
  const change = async (isOn: boolean) => {
    const isAllowed = !isOn || (await Notification.requestPermission()) === 'granted';
    settings.notifies.value = isOn && isAllowed;
    if (!isAllowed) toasts.show({ kind: 'info', text: t('watch.notifyDenied') });
  };
  return <Switch label={t('watch.notify')} isOn={settings.notifies.value} onChange={(isOn) => void change(isOn)} />;
}
