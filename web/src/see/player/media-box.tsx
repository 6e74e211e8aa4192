// One result or input on the page: a clip in a playback, or a picture in a zoom, in a box that keeps its shape.
import type { Signal } from '@preact/signals';
import { ClipVideo } from './clip-video.js';
import type { Clip } from './frame-maths.js';
import type { Playback } from './playback.js';
import type { ZoomView } from './zoom.js';
import { ZoomPicture } from './zoom-picture.js';

export interface MediaBoxProps {
  readonly kind: 'picture' | 'clip';
  readonly url: string;
  readonly label: string;
  readonly partKey: string;
  readonly playback: Playback;
  readonly zoom: Signal<ZoomView>;
  /** Null where its frames per second are not known. */
  readonly clip: Clip | null;
  readonly frames?: number | undefined;
  readonly isByFrame?: boolean | undefined;
  readonly onBroken?: (() => void) | undefined;
}

/** The picture or the clip. */
export function MediaBox({
  kind,
  url,
  label,
  partKey,
  playback,
  zoom,
  clip,
  frames,
  isByFrame,
  onBroken,
}: MediaBoxProps) {
  if (kind === 'picture') return <ZoomPicture view={zoom} url={url} label={label} onBroken={onBroken} />;
  return (
    <ClipVideo
      playback={playback}
      partKey={partKey}
      url={url}
      clip={clip}
      frames={frames}
      isByFrame={isByFrame}
      label={label}
      onBroken={onBroken}
    />
  );
}
