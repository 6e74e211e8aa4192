// A clip on the page: a video element that takes part in a playback, and lets its memory go with itself.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../texts/t.js';
import type { Clip } from './frame-maths.js';
import type { Playback } from './playback.js';

export interface ClipVideoProps {
  readonly playback: Playback;
  /** Names it among the parts of the playback. */
  readonly partKey: string;
  readonly url: string;
  readonly clip: Clip | null;
  readonly label: string;
  /** Runs frame by frame with the others. */
  readonly isByFrame?: boolean | undefined;
  /** Frames of the clip where only those are known: its speed follows from its length then. */
  readonly frames?: number | undefined;
  readonly onBroken?: (() => void) | undefined;
}

/** The element. It is muted until the playback says that it is the one to be heard. */
export function ClipVideo({ playback, partKey, url, clip, label, isByFrame, frames, onBroken }: ClipVideoProps) {
  const element = useRef<HTMLVideoElement>(null);
  const [isBroken, setBroken] = useState(false);
  const [length, setLength] = useState<number | null>(null);
  const known =
    clip ?? (length !== null && frames !== undefined && frames > 0 ? { frames, fps: frames / length } : null);
  const knownFrames = known?.frames;
  const knownFps = known?.fps;
  useLayoutEffect(() => {
    const video = element.current;
    if (video === null) return;
    setBroken(false);
    video.src = url;
    return () => {
      // Without this a browser keeps the decoder and what it has read until it collects garbage.
      video.pause();
      video.removeAttribute('src');
      video.load();
    };
  }, [url]);
  useLayoutEffect(() => {
    const video = element.current;
    if (video === null || knownFrames === undefined || knownFps === undefined) return;
    return playback.attach({ key: partKey, video, clip: { frames: knownFrames, fps: knownFps }, isByFrame });
  }, [playback, partKey, knownFrames, knownFps, isByFrame]);
  return (
    <>
      <video
        ref={element}
        class="see-media"
        aria-label={label}
        preload="auto"
        playsInline
        muted
        onLoadedMetadata={(event) => setLength(event.currentTarget.duration)}
        onError={(event) => {
          if (!event.currentTarget.hasAttribute('src')) return;
          setBroken(true);
          onBroken?.();
        }}
      />
      {isBroken && <p class="see-broken muted">{t('see.cannotPlay')}</p>}
    </>
  );
}
