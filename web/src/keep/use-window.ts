// Which part of a long grid is on the screen.
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** The grid's width, and the screen as seen from the top of the grid. Pixels. */
export interface ScreenWindow {
  readonly width: number;
  /** Negative while the grid begins below the upper edge of the screen. */
  readonly top: number;
  readonly height: number;
}

/** A ref for the grid and its window, followed while the page scrolls and changes its size. */
export function useWindow(): [RefObject<HTMLUListElement | null>, ScreenWindow] {
  const grid = useRef<HTMLUListElement>(null);
  const [window, setWindow] = useState<ScreenWindow>({ width: 0, top: 0, height: 0 });
  useLayoutEffect(() => {
    const element = grid.current;
    if (element === null) return;
    let frame = 0;
    const measure = () => {
      frame = 0;
      const next = { width: element.clientWidth, top: -element.getBoundingClientRect().top, height: innerHeight };
      setWindow((before) => (isSame(before, next) ? before : next));
    };
    const measureSoon = () => {
      frame ||= requestAnimationFrame(measure);
    };
    const observer = new ResizeObserver(measureSoon);
    observer.observe(element);
    // Whatever scrolls around the grid: scroll events do not bubble, but they can be captured.
    document.addEventListener('scroll', measureSoon, { capture: true, passive: true });
    addEventListener('resize', measureSoon);
    measure();
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
      document.removeEventListener('scroll', measureSoon, { capture: true });
      removeEventListener('resize', measureSoon);
    };
  }, []);
  return [grid, window];
}

function isSame(a: ScreenWindow, b: ScreenWindow): boolean {
  return a.width === b.width && a.top === b.top && a.height === b.height;
}
