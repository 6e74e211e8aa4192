// A picture that can be looked at closely: wheel, pinch, drag, double click, buttons and keys.
import type { Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { formatNumber } from '../../texts/format.js';
import { t } from '../../texts/t.js';
import { Button } from '../../ui/index.js';
import { type BoxPoint, panBy, transformOf, wholeView, type ZoomView, zoomAt } from './zoom.js';

export interface ZoomPictureProps {
  readonly view: Signal<ZoomView>;
  readonly url: string;
  readonly label: string;
  readonly onBroken?: (() => void) | undefined;
}

/** The picture in its box. Several with one view move together. */
export function ZoomPicture({ view, url, label, onBroken }: ZoomPictureProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => (box.current === null ? undefined : watchGestures(box.current, view)), [view]);
  const { scale } = view.value;
  return (
    <div ref={box} class={`see-zoom${scale > 1 ? ' see-zoomed' : ''}`}>
      <img
        class={`see-media${scale >= 4 ? ' see-pixels' : ''}`}
        src={url}
        alt={label}
        draggable={false}
        style={{ transform: transformOf(view.value) }}
        onError={onBroken}
      />
    </div>
  );
}

/** Buttons beside a picture. */
export function ZoomButtons({ view }: { readonly view: Signal<ZoomView> }) {
  const middle = { x: 0.5, y: 0.5 };
  const zoom = (factor: number) => {
    view.value = zoomAt(view.value, factor, middle);
  };
  return (
    <fieldset class="row see-buttons" aria-label={t('see.zoom')}>
      <Button kind="quiet" aria-label={t('see.zoomOut')} onClick={() => zoom(1 / 1.5)}>
        −
      </Button>
      <Button kind="quiet" aria-label={t('see.zoomIn')} onClick={() => zoom(1.5)}>
        +
      </Button>
      <Button
        kind="quiet"
        onClick={() => {
          view.value = wholeView;
        }}
      >
        {t('see.zoomWhole')}
      </Button>
      <span class="muted mono">{t('see.zoomLevel', { percent: formatNumber(view.value.scale * 100) })}</span>
      <span class="muted small see-keys">{t('see.keysZoom')}</span>
    </fieldset>
  );
}

function watchGestures(box: HTMLElement, view: Signal<ZoomView>): () => void {
  const abort = new AbortController();
  const { signal } = abort;
  const pointers = new Map<number, BoxPoint>();
  const pointOf = ({ clientX, clientY }: MouseEvent): BoxPoint => {
    const { left, top, width, height } = box.getBoundingClientRect();
    return { x: (clientX - left) / width, y: (clientY - top) / height };
  };
  const onWheel = (event: WheelEvent) => {
    // A wheel over a whole picture scrolls the page, as everywhere else.
    if (!event.ctrlKey && !event.metaKey && view.value.scale === 1) return;
    event.preventDefault();
    view.value = zoomAt(view.value, Math.exp(-event.deltaY / 300), pointOf(event));
  };
  const onMove = (event: PointerEvent) => {
    const before = pointers.get(event.pointerId);
    if (before === undefined) return;
    const now = pointOf(event);
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other === undefined) view.value = panBy(view.value, now.x - before.x, now.y - before.y);
    else
      view.value = zoomAt(
        view.value,
        distance(now, other) / Math.max(0.01, distance(before, other)),
        middleOf(now, other),
      );
    pointers.set(event.pointerId, now);
  };
  const release = (event: PointerEvent) => pointers.delete(event.pointerId);
  box.addEventListener('wheel', onWheel, { signal, passive: false });
  box.addEventListener(
    'pointerdown',
    (event) => {
      pointers.set(event.pointerId, pointOf(event));
      if (event.pointerType === 'mouse') box.setPointerCapture(event.pointerId);
    },
    { signal },
  );
  box.addEventListener('pointermove', onMove, { signal });
  box.addEventListener('pointerup', release, { signal });
  box.addEventListener('pointercancel', release, { signal });
  box.addEventListener(
    'dblclick',
    (event) => {
      view.value = view.value.scale > 1 ? wholeView : zoomAt(view.value, 3, pointOf(event));
    },
    { signal },
  );
  return () => abort.abort();
}

function distance(a: BoxPoint, b: BoxPoint): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

function middleOf(a: BoxPoint, b: BoxPoint): BoxPoint {
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
}
