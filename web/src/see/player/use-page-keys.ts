// Keys that work anywhere on the page while a view is shown.
import { useEffect, useRef } from 'preact/hooks';
import { focusedControl, isFreeKey } from './free-key.js';

/**
 * Hands keys that no focused control uses to the handler.
 * @param handle returns true where it has used the key
 */
export function usePageKeys(handle: (event: KeyboardEvent) => boolean): void {
  const latest = useRef(handle);
  latest.current = handle;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isBusy = event.defaultPrevented || document.querySelector('dialog[open]') !== null;
      if (isBusy || !isFreeKey(event.key, focusedControl(event.target))) return;
      if (latest.current(event)) event.preventDefault();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}
