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
  store.onEvent(({ event, data }) => {
    if (event !== 'status' || !isOver(data) || data.status === 'cancelled') return;
    if (!store.mine.value.includes(data.job_id) || document.visibilityState === 'visible') return;
    unseen.value += 1;
    const state = store.jobs.value.get(data.job_id);
    if (store.settings.notifies.value && state) notify(state, data.status === 'completed');
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
