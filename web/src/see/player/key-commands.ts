// Keys of the player.

/** What a key asks of the player. */
export type PlayerCommand =
  | { readonly kind: 'toggle' | 'start' | 'end' | 'loop' | 'mute' }
  | { readonly kind: 'step' | 'speed' | 'volume'; readonly by: number };

/** A key as an event reports it. */
export interface KeyPress {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly altKey: boolean;
  readonly metaKey: boolean;
}

/** Speeds on offer, as multiples of the clip's own. */
export const speeds: readonly number[] = [0.1, 0.25, 0.5, 1, 1.5, 2];

/** Frames of a long step. */
const longStep = 10;

/** The command of a key; null for keys that are not the player's. */
export function commandOf({ key, shiftKey, ctrlKey, altKey, metaKey }: KeyPress): PlayerCommand | null {
  if (ctrlKey || altKey || metaKey) return null;
  const length = shiftKey ? longStep : 1;
  switch (key) {
    case ' ':
    case 'k':
      return { kind: 'toggle' };
    case 'ArrowLeft':
    case ',':
      return { kind: 'step', by: -length };
    case 'ArrowRight':
    case '.':
      return { kind: 'step', by: length };
    case 'Home':
      return { kind: 'start' };
    case 'End':
      return { kind: 'end' };
    case 'l':
      return { kind: 'loop' };
    case 'm':
      return { kind: 'mute' };
    case '[':
    case '<':
      return { kind: 'speed', by: -1 };
    case ']':
    case '>':
      return { kind: 'speed', by: 1 };
    case 'ArrowUp':
      return { kind: 'volume', by: 0.1 };
    case 'ArrowDown':
      return { kind: 'volume', by: -0.1 };
    default:
      return null;
  }
}

/** The speed `by` places faster, or slower, in the list. */
export function nextSpeed(speed: number, by: number): number {
  const place = speeds.reduce(
    (best, candidate, i) => (Math.abs(candidate - speed) < Math.abs((speeds[best] ?? 0) - speed) ? i : best),
    0,
  );
  return speeds[Math.max(0, Math.min(speeds.length - 1, place + by))] ?? 1;
}

/** A volume 0 … 1, without the crumbs of floating-point sums. */
export function changeVolume(volume: number, by: number): number {
  return Math.round(Math.max(0, Math.min(1, volume + by)) * 100) / 100;
}
