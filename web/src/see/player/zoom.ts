// Where a zoomed picture lies in its box. The picture fills the box at scale 1 and never leaves it empty.

/** Place of the picture: scale, and its shift in parts of the box's width and height. */
export interface ZoomView {
  /** 1 … maxScale. */
  readonly scale: number;
  readonly x: number;
  readonly y: number;
}

/** A place in the box, 0 … 1 each way from its upper left corner. */
export interface BoxPoint {
  readonly x: number;
  readonly y: number;
}

export const maxScale = 16;
export const wholeView: ZoomView = { scale: 1, x: 0, y: 0 };

/** Scales by `factor` so that what lies under `point` stays under it. */
export function zoomAt(view: ZoomView, factor: number, point: BoxPoint): ZoomView {
  const scale = Math.max(1, Math.min(maxScale, view.scale * factor));
  const ratio = scale / view.scale;
  return clampView({
    scale,
    x: point.x - (point.x - view.x) * ratio,
    y: point.y - (point.y - view.y) * ratio,
  });
}

/** Moves the picture by parts of the box. */
export function panBy(view: ZoomView, x: number, y: number): ZoomView {
  return clampView({ ...view, x: view.x + x, y: view.y + y });
}

/** The nearest view that leaves no part of the box empty. */
export function clampView({ scale, x, y }: ZoomView): ZoomView {
  const least = 1 - scale;
  return { scale, x: Math.max(least, Math.min(0, x)), y: Math.max(least, Math.min(0, y)) };
}

/** The view as a CSS transform, for an origin at the upper left corner. */
export function transformOf({ scale, x, y }: ZoomView): string {
  return `translate(${round(x * 100)}%, ${round(y * 100)}%) scale(${round(scale)})`;
}

/** The view after a key; null for keys that do not zoom or move. */
export function viewAfterKey(view: ZoomView, key: string): ZoomView | null {
  const middle = { x: 0.5, y: 0.5 };
  const far = 0.1;
  switch (key) {
    case '+':
    case '=':
      return zoomAt(view, 1.5, middle);
    case '-':
      return zoomAt(view, 1 / 1.5, middle);
    case '0':
      return wholeView;
    case 'ArrowLeft':
      return panBy(view, far, 0);
    case 'ArrowRight':
      return panBy(view, -far, 0);
    case 'ArrowUp':
      return panBy(view, 0, far);
    case 'ArrowDown':
      return panBy(view, 0, -far);
    default:
      return null;
  }
}

function round(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}
