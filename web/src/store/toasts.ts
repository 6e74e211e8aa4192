// Short messages at the edge of the page: shown for a while, errors until they are dismissed.
import { signal } from '@preact/signals';
import { t } from '../texts/t.js';
import type { Toast, Toasts } from './types.js';

const shownMs = 8000;
const mostShown = 4;

/** Makes the messages of a page. */
export function createToasts(): Toasts {
  const shown = signal<readonly Toast[]>([]);
  let last = 0;
  const dismiss = (id: number) => {
    shown.value = shown.value.filter((toast) => toast.id !== id);
  };
  const show = (toast: Omit<Toast, 'id'>) => {
    last += 1;
    const id = last;
    shown.value = [...shown.value, { ...toast, id }].slice(-mostShown);
    if (toast.kind !== 'error') setTimeout(() => dismiss(id), shownMs);
  };
  return { shown, show, dismiss, error: (error) => show({ kind: 'error', text: describeError(error) }) };
}

/** What went wrong, in its own words; a line that does not stand in ours. */
export function describeError(error: unknown): string {
  if (error instanceof TypeError) return t('error.offline');
  return error instanceof Error ? error.message : String(error);
}
