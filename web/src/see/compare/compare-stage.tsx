// Two results in step: beside each other, or one over the other with a line that is moved across.
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { Job } from '../../../../src/protocol/index.js';
import { t } from '../../texts/t.js';
import { Frame, Segmented } from '../../ui/index.js';
import type { Media } from '../media-of.js';
import { MediaBox } from '../player/media-box.js';
import type { Playback } from '../player/playback.js';
import { Transport } from '../player/transport.js';
import { usePlayerKeys, wantsStillness } from '../player/use-playback.js';
import { wholeView, type ZoomView } from '../player/zoom.js';
import { ZoomButtons } from '../player/zoom-picture.js';
import { useFullscreen } from '../use-fullscreen.js';
import { WipeFrame } from './wipe-frame.js';

/** One of the two. */
export interface Side {
  readonly key: 'first' | 'second';
  readonly job: Job;
  readonly media: Media;
}

export interface CompareStageProps {
  readonly sides: readonly [Side, Side];
  readonly playback: Playback;
  readonly onBroken: () => void;
}

type Mode = 'beside' | 'wipe';

/** The two results with their controls. */
export function CompareStage({ sides, playback, onBroken }: CompareStageProps) {
  const [mode, setMode] = useState<Mode>('beside');
  const zoom = useSignal(wholeView);
  const isClip = sides.some(({ media }) => media.kind === 'clip');
  const withSound = sides.filter(({ media }) => media.hasSound);
  usePlayerKeys(playback, isClip);
  useEffect(() => {
    if (isClip && withSound.length === 0 && !wantsStillness()) playback.play();
  }, [playback, isClip, withSound.length]);
  const parts = { sides, playback, zoom, onBroken };
  const screen = useFullscreen();
  return (
    <div ref={screen.ref} class="stack see-screen">
      <div class="row see-modes">
        <Segmented<Mode>
          label={t('see.compareMode')}
          isLabelHidden
          value={mode}
          options={[
            { value: 'beside', label: t('see.beside') },
            { value: 'wipe', label: t('see.wipe') },
          ]}
          onChange={setMode}
        />
        {withSound.length === 2 && <SoundChoice playback={playback} />}
      </div>
      {mode === 'beside' ? <Beside {...parts} /> : <Wipe {...parts} />}
      {isClip ? (
        <Transport playback={playback} hasSound={withSound.length > 0} screen={screen} />
      ) : (
        <ZoomButtons view={zoom} />
      )}
    </div>
  );
}

interface Parts extends CompareStageProps {
  readonly zoom: Signal<ZoomView>;
}

function Beside({ sides, ...parts }: Parts) {
  return (
    <div class="see-beside">
      {sides.map((side) => (
        <div key={side.key} class="see-tile">
          <Frame width={side.media.width} height={side.media.height}>
            <SideMedia side={side} {...parts} />
          </Frame>
          <p class="see-tile-name">{sideName(side)}</p>
        </div>
      ))}
    </div>
  );
}

function Wipe({ sides, ...parts }: Parts) {
  const [first, second] = sides;
  return (
    <WipeFrame
      width={first.media.width}
      height={first.media.height}
      zoom={parts.zoom}
      under={<SideMedia side={first} {...parts} />}
      over={<SideMedia side={second} {...parts} />}
      words={t('see.wipeSides')}
    />
  );
}

function SideMedia({ side, playback, zoom, onBroken }: { readonly side: Side } & Omit<Parts, 'sides'>) {
  const { key, media } = side;
  return (
    <MediaBox
      key={media.url}
      kind={media.kind}
      url={media.url}
      label={sideName(side)}
      partKey={key}
      playback={playback}
      zoom={zoom}
      clip={media.clip}
      onBroken={onBroken}
    />
  );
}

function SoundChoice({ playback }: { readonly playback: Playback }) {
  return (
    <Segmented
      label={t('see.soundOf')}
      value={playback.heard.value}
      options={[
        { value: 'first', label: t('see.first') },
        { value: 'second', label: t('see.second') },
      ]}
      onChange={(key) => {
        playback.heard.value = key;
      }}
    />
  );
}

function sideName({ key, job }: Side): string {
  return t(key === 'first' ? 'see.firstOf' : 'see.secondOf', { prompt: job.prompt });
}
