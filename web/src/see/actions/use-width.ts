// The width of an element as it changes.
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** A ref for the element, and its width in whole pixels; `first` until it is known. */
export function useWidth<Element extends HTMLElement>(first: number): [RefObject<Element | null>, number] {
  const element = useRef<Element>(null);
  const [width, setWidth] = useState(first);
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return;
    const measure = () => setWidth(Math.max(1, Math.floor(current.clientWidth)));
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    measure();
    return () => observer.disconnect();
  }, []);
  return [element, width];
}
