// Whether a key that was pressed on the page is free for the player, or belongs to the control that has the focus.

/** What of the focused element matters. */
export interface FocusedControl {
  /** As BUTTON; empty where nothing has the focus. */
  readonly tag: string;
  /** Of an input, as range. */
  readonly type: string;
  readonly role: string;
  readonly isEditable: boolean;
}

const arrows = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'PageUp', 'PageDown'];

/** True where the focused control does nothing with the key itself. */
export function isFreeKey(key: string, { tag, type, role, isEditable }: FocusedControl): boolean {
  if (isEditable || tag === 'TEXTAREA' || tag === 'SELECT') return false;
  if (tag === 'INPUT') {
    if (type === 'range' || type === 'radio') return !arrows.includes(key) && !(type === 'radio' && key === ' ');
    return type === 'checkbox' && key !== ' ';
  }
  if (role === 'tab') return !arrows.includes(key) && key !== ' ' && key !== 'Enter';
  if (tag === 'BUTTON' || tag === 'A' || tag === 'SUMMARY') return key !== ' ' && key !== 'Enter';
  // A focused region of text scrolls by these keys.
  return tag !== 'PRE' && tag !== 'SECTION' ? true : !arrows.includes(key) && key !== ' ';
}

/** The element that has the focus, as far as it matters. */
export function focusedControl(target: EventTarget | null): FocusedControl {
  const element = target instanceof HTMLElement ? target : null;
  return {
    tag: element?.tagName ?? '',
    type: element instanceof HTMLInputElement ? element.type : '',
    role: element?.getAttribute('role') ?? '',
    isEditable: element?.isContentEditable ?? false,
  };
}
