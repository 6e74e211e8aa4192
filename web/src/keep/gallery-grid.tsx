// The grid of the gallery: only the cards near the screen exist, and keys move among all of them.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t } from '../texts/t.js';
import { type CardActions, GalleryCard } from './gallery-card.js';
import type { Listing } from './listing.js';
import { useWindow } from './use-window.js';
import { drawnRange, type GridLayout, itemAfterKey, layOutGrid, placeOf, scrollToShow } from './virtual-window.js';

export interface GalleryGridProps extends CardActions {
  readonly listing: Listing;
  readonly favourites: ReadonlySet<string>;
  /** Ids that are chosen for a comparison. */
  readonly chosen: readonly string[];
  /** Counts the deletions: the card that takes the place of a deleted one gets the focus. */
  readonly deletions: number;
}

const gap = 16;
const leastColumn = 220;
/** Words and buttons below the picture of a card. */
const wordsHeight = 138;
/** Jobs that are known beyond the last one drawn, so that scrolling finds them there. */
const ahead = 60;

/** The grid. */
export function GalleryGrid({ listing, favourites, chosen, deletions, ...actions }: GalleryGridProps) {
  const [grid, window] = useWindow();
  const [current, setCurrent] = useState(0);
  const wantsFocus = useRef(false);
  const jobs = listing.jobs.value;
  const count = listing.total.value;
  const layout = layOutGrid({
    count,
    width: window.width,
    leastColumn: Math.min(leastColumn, Math.max(140, (window.width - gap) / 2)),
    gap,
    cardHeight: (width) => (width * 9) / 16 + wordsHeight,
  });
  const range = drawnRange(layout, count, window.top, window.height);
  const focused = Math.min(current, Math.max(0, count - 1));
  useEffect(() => listing.reach(Math.min(count, range.end + ahead)), [listing, count, range.end]);
  useEffect(() => {
    if (deletions > 0) wantsFocus.current = true;
  }, [deletions]);
  // Before the next key can come: a focus that follows later would take back what that key has moved.
  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    const link = grid.current?.querySelector<HTMLElement>(`[data-index="${focused}"] [data-card]`);
    if (!link) return;
    wantsFocus.current = false;
    link.focus({ preventScroll: true });
  });
  const move = (next: number) => {
    const top = -(grid.current?.getBoundingClientRect().top ?? 0);
    scrollBy({ top: scrollToShow(next, layout, top, innerHeight, barHeight()), behavior: 'instant' });
    wantsFocus.current = true;
    setCurrent(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(window.height / layout.rowHeight));
    const next = itemAfterKey(event.key, focused, count, layout, page);
    const job = jobs[focused];
    if (next !== null) move(next);
    else if (job && event.key === 'f') actions.onFavourite(job);
    else if (job && event.key === 'c') actions.onChoose(job);
    else if (job && event.key === 'Delete') actions.onDelete(job);
    else return;
    event.preventDefault();
  };
  const drawn = Array.from({ length: Math.max(0, range.end - range.first) }, (_, i) => range.first + i);
  // The card with the focus stays, wherever the wheel leads.
  if (count > 0 && !drawn.includes(focused)) drawn.push(focused);
  return (
    <ul
      ref={grid}
      class="keep-grid"
      aria-label={t('keep.results')}
      style={{ height: `${layout.height}px` }}
      onKeyDown={onKeyDown}
      onFocusIn={(event) => {
        const index = indexOf(event.target);
        if (index !== null) setCurrent(index);
      }}
    >
      {window.width > 0 &&
        drawn.map((index) => {
          const job = jobs[index];
          return (
            <li
              key={job?.id ?? `place ${index}`}
              class="keep-item"
              aria-setsize={count}
              aria-posinset={index + 1}
              data-index={index}
              style={styleOf(index, layout)}
            >
              {job ? (
                <GalleryCard
                  {...actions}
                  job={job}
                  isFavourite={favourites.has(job.id)}
                  isChosen={chosen.includes(job.id)}
                  isCurrent={index === focused}
                />
              ) : (
                <div class="keep-card keep-awaited" aria-busy="true" />
              )}
            </li>
          );
        })}
    </ul>
  );
}

function styleOf(index: number, layout: GridLayout) {
  const { x, y } = placeOf(index, layout, gap);
  return {
    transform: `translate(${x}px, ${y}px)`,
    width: `${layout.columnWidth}px`,
    height: `${layout.rowHeight - gap}px`,
  };
}

/** The place of the card that an element belongs to. */
function indexOf(target: EventTarget | null): number | null {
  const item = target instanceof Element ? target.closest<HTMLElement>('[data-index]') : null;
  return item === null ? null : Number(item.dataset.index);
}

/** Height of what stays at the upper edge of the page, and a little air. */
function barHeight(): number {
  return (document.querySelector('header')?.offsetHeight ?? 0) + gap;
}
