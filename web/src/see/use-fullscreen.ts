// A part of the page that fills the screen when it is asked to.
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { usePageKeys } from './player/use-page-keys.js';

/** What fills the screen, and how. */
export interface Fullscreen {
  readonly ref: RefObject<HTMLDivElement | null>;
  readonly isFull: boolean;
  readonly toggle: () => void;
}

/** The key F does the same as `toggle`; Escape is the browser's. */
export function useFullscreen(): Fullscreen {
  const ref = useRef<HTMLDivElement>(null);
  const [isFull, setFull] = useState(false);
  useEffect(() => {
    const look = () => setFull(document.fullscreenElement !== null && document.fullscreenElement === ref.current);
    document.addEventListener('fullscreenchange', look);
    return () => document.removeEventListener('fullscreenchange', look);
  }, []);
  const toggle = () => {
    // A browser may refuse; the page stays as it was then.
    const change = document.fullscreenElement === null ? ref.current?.requestFullscreen() : document.exitFullscreen();
    change?.catch(() => undefined);
  };
  usePageKeys(({ key, ctrlKey, altKey, metaKey }) => {
    if (key !== 'f' || ctrlKey || altKey || metaKey) return false;
    toggle();
    return true;
  });
  return { ref, isFull, toggle };
}
