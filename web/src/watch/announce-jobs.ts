// Tells of jobs where nobody looks: in the tab's title, and by a notification when a job of this tab is done.
import { effect, signal } from '@preact/signals';
import { hrefOf } from '../app/router.js';
import { isOver } from '../store/job-states.js';
import type { JobState, Store } from '../store/types.js';
import { t } from '../texts/t.js';

/** Title of the page: how far the running job is, or how many were done since somebody looked. */
export function titleOf(states: readonly JobState[], unseen: number): string {
  const app = t('app.name');
  const running = states.filter(({ record }) => record.status === 'in_progress');
  if (running.length > 0) {
    const percent = Math.floor(running.reduce((sum, { record }) => sum + record.progress, 0) / running.length);
    return t('watch.titleRunning', { percent, app });
  }
  return unseen > 0 ? t('watch.titleDone', { count: unseen, app }) : app;
}

/** Starts telling. */
export function announceJobs(store: Store): void {
  const unseen = signal(0);
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') unseen.value = 0;
  });
  effect(() => {
    const mine = new Set(store.mine.value);
    const states = [...store.jobs.value.values()].filter(({ record }) => mine.has(record.id));
    document.title = titleOf(states, unseen.value);
  });
  watchEnds(store, (state) => {
    if (state.record.status === 'cancelled' || document.visibilityState === 'visible') return;
    unseen.value = unseen.peek() + 1;
    if (store.settings.notifies.peek()) notify(state, state.record.status === 'completed');
  });
}

/** Tells once of each job of this tab that ends, also when its end is all that is heard of it. */
export function watchEnds({ mine, jobs }: Pick<Store, 'mine' | 'jobs'>, tell: (state: JobState) => void): void {
  const known = new Set(mine.peek());
  const awaited = new Set<string>();
  effect(() => {
    const ended: JobState[] = [];
    for (const id of mine.value) {
      const state = jobs.value.get(id);
      const isNew = !known.has(id);
      known.add(id);
      if (isNew || (state && !isOver(state.record))) awaited.add(id);
      if (state && isOver(state.record) && awaited.delete(id)) ended.push(state);
    }
    for (const state of ended) tell(state);
  });
}

function notify({ record }: JobState, isDone: boolean): void {
  if (typeof Notification === 'undefined' || Notification.permission !== 'granted') return;
  try {
    const title = isDone ? t('watch.doneTitle') : t('watch.failedTitle');
    const note = new Notification(title, { body: record.prompt.slice(0, 120), tag: record.id, icon: './icon.svg' });
    note.onclick = () => {
      window.focus();
      location.hash = hrefOf({ name: 'job', id: record.id });
      note.close();
    };
  } catch {
    // Some phones allow notifications from service workers alone; the title tells all the same.
  }
}
