// What a person has set: kept in this browser and shared by its tabs. The key of the server is not among it.
import { effect, type Signal, signal } from '@preact/signals';
import type { Settings, Theme } from './types.js';

const themes: readonly Theme[] = ['system', 'light', 'dark'];

/** Opens the settings of this browser. */
export function openSettings(storage: Storage): Settings {
  const theme = kept<Theme>(
    storage,
    'orrery.theme',
    (text) => themes.find((name) => name === text) ?? 'system',
    String,
  );
  const notifies = kept(storage, 'orrery.notifies', (text) => text === 'true', String);
  const favourites = kept<ReadonlySet<string>>(storage, 'orrery.favourites', readSet, (set) =>
    JSON.stringify([...set]),
  );
  return {
    theme,
    notifies,
    favourites,
    toggleFavourite: (id) => {
      const next = new Set(favourites.value);
      if (!next.delete(id)) next.add(id);
      favourites.value = next;
    },
  };
}

/** A signal that is read from storage, written to it, and follows what another tab writes. */
function kept<Value>(
  storage: Storage,
  key: string,
  read: (text: string | null) => Value,
  write: (value: Value) => string,
): Signal<Value> {
  const value = signal(read(storage.getItem(key)));
  effect(() => {
    const text = write(value.value);
    try {
      if (storage.getItem(key) !== text) storage.setItem(key, text);
    } catch {
      // A full or forbidden storage: the setting holds as long as the page.
    }
  });
  addEventListener('storage', (event) => {
    if (event.storageArea === storage && event.key === key) value.value = read(event.newValue);
  });
  return value;
}

function readSet(text: string | null): ReadonlySet<string> {
  try {
    const list: unknown = JSON.parse(text ?? '[]');
    return new Set(Array.isArray(list) ? list.filter((id): id is string => typeof id === 'string') : []);
  } catch {
    return new Set();
  }
}
