// A long grid of which only what is near the screen is drawn.

/** The grid and the screen, in pixels. */
export interface GridShape {
  readonly count: number;
  readonly width: number;
  /** Columns are at least as wide. */
  readonly leastColumn: number;
  readonly gap: number;
  /** Height of a card that is `width` wide. */
  readonly cardHeight: (width: number) => number;
}

/** The grid laid out. */
export interface GridLayout {
  readonly columns: number;
  readonly columnWidth: number;
  readonly rows: number;
  /** From the top of a row to the top of the next. */
  readonly rowHeight: number;
  readonly height: number;
}

/** Lays the grid out: as many columns as fit, one at least. */
export function layOutGrid({ count, width, leastColumn, gap, cardHeight }: GridShape): GridLayout {
  const columns = Math.max(1, Math.floor((width + gap) / (leastColumn + gap)));
  const columnWidth = Math.max(0, (width - gap * (columns - 1)) / columns);
  const rowHeight = Math.ceil(cardHeight(columnWidth)) + gap;
  const rows = Math.ceil(count / columns);
  return { columns, columnWidth, rows, rowHeight, height: Math.max(0, rows * rowHeight - gap) };
}

/** Which items are drawn: `first` up to, not including, `end`. */
export interface DrawnRange {
  readonly first: number;
  readonly end: number;
}

/**
 * Items on the screen and `spare` rows on each side of it.
 * @param top where the screen begins, from the top of the grid; negative while the grid begins below it
 * @param screen height of the screen
 */
export function drawnRange(layout: GridLayout, count: number, top: number, screen: number, spare = 2): DrawnRange {
  const { columns, rows, rowHeight } = layout;
  const firstRow = Math.max(0, Math.min(rows - 1, Math.floor(top / rowHeight) - spare));
  const endRow = Math.max(0, Math.min(rows, Math.ceil((top + screen) / rowHeight) + spare));
  return { first: Math.max(0, firstRow * columns), end: Math.min(count, Math.max(firstRow, endRow) * columns) };
}

/** Place of an item, from the upper left corner of the grid. */
export function placeOf(index: number, { columns, columnWidth, rowHeight }: GridLayout, gap: number) {
  return { x: (index % columns) * (columnWidth + gap), y: Math.floor(index / columns) * rowHeight };
}

/**
 * How far to scroll so that the item is wholly on the screen; 0 where it is.
 * @param top as for drawnRange
 * @param margin space kept free at the upper and lower edge
 */
export function scrollToShow(index: number, layout: GridLayout, top: number, screen: number, margin = 16): number {
  const start = Math.floor(index / layout.columns) * layout.rowHeight - margin;
  const end = start + layout.rowHeight + 2 * margin;
  if (start < top) return start - top;
  return end > top + screen ? end - top - screen : 0;
}

/** The item that a key leads to from `index`; null for keys that do not move, and at the edge. */
export function itemAfterKey(
  key: string,
  index: number,
  count: number,
  { columns }: GridLayout,
  page: number,
): number | null {
  const moves: Readonly<Record<string, number>> = {
    ArrowRight: 1,
    ArrowLeft: -1,
    ArrowDown: columns,
    ArrowUp: -columns,
    PageDown: columns * page,
    PageUp: -columns * page,
    Home: -index,
    End: count - 1 - index,
  };
  const by = moves[key];
  if (by === undefined || count === 0) return null;
  const wanted = index + by;
  // A page beyond the end leads to the end; an arrow stays.
  const isPage = key.startsWith('Page');
  const next = isPage ? Math.max(0, Math.min(count - 1, wanted)) : wanted;
  return next < 0 || next >= count || next === index ? null : next;
}
