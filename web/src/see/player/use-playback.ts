// A playback that lives as long as its component.
import { useEffect, useMemo } from 'preact/hooks';
import type { Clip } from './frame-maths.js';
import { commandOf } from './key-commands.js';
import { createPlayback, type Playback } from './playback.js';
import { usePageKeys } from './use-page-keys.js';

/**
 * A playback for a clip.
 * @param identity another value makes another playback
 * @param heard key of the part that is heard
 */
export function usePlayback(identity: string, { frames, fps }: Clip, heard: string): Playback {
  const playback = useMemo(() => createPlayback({ frames, fps }, heard), [identity, frames, fps]);
  useEffect(() => () => playback.close(), [playback]);
  return playback;
}

/** Hands the page's keys to a playback while `isOn`. */
export function usePlayerKeys(playback: Playback, isOn: boolean): void {
  usePageKeys((event) => {
    const command = isOn ? commandOf(event) : null;
    if (command !== null) playback.run(command);
    return command !== null;
  });
}

/** Whether the person asked for stillness. */
export function wantsStillness(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}
