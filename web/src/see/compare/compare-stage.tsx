// Two results in step: beside each other, or one over the other with a line that is moved across.
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { Job } from '../../../../src/protocol/index.js';
import { t } from '../../texts/t.js';
import { Frame, Range, Segmented } from '../../ui/index.js';
import type { Media } from '../media-of.js';
import { MediaBox } from '../player/media-box.js';
import type { Playback } from '../player/playback.js';
import { Transport } from '../player/transport.js';
import { usePlayerKeys, wantsStillness } from '../player/use-playback.js';
import { wholeView, type ZoomView } from '../player/zoom.js';
import { ZoomButtons } from '../player/zoom-picture.js';

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
  return (
    <div class="stack">
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
      {isClip ? <Transport playback={playback} hasSound={withSound.length > 0} /> : <ZoomButtons view={zoom} />}
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
  const [percent, setPercent] = useState(50);
  const drag = (event: PointerEvent & { readonly currentTarget: HTMLElement }) => {
    // Pictures that are looked at closely are moved by dragging; the slider moves the line then.
    const isHover = event.type !== 'pointerdown' && event.buttons === 0;
    if (isHover || parts.zoom.value.scale > 1) return;
    const { left, width } = event.currentTarget.getBoundingClientRect();
    setPercent(Math.max(0, Math.min(100, ((event.clientX - left) / Math.max(1, width)) * 100)));
  };
  return (
    <div class="stack-tight see-wipe-box">
      <Frame width={first.media.width} height={first.media.height}>
        <div class="see-wipe" onPointerDown={drag} onPointerMove={drag}>
          <div class="see-layer">
            <SideMedia side={first} {...parts} />
          </div>
          <div class="see-layer" style={{ clipPath: `inset(0 0 0 ${percent}%)` }}>
            <SideMedia side={second} {...parts} />
          </div>
          <div class="see-wipe-line" style={{ insetInlineStart: `${percent}%` }} aria-hidden="true" />
        </div>
      </Frame>
      <Range
        label={t('see.wipeLine')}
        value={Math.round(percent)}
        min={0}
        max={100}
        step={1}
        valueText={t('see.wipeAt', { percent: Math.round(percent) })}
        onInput={setPercent}
      />
      <p class="muted small">{t('see.wipeSides')}</p>
    </div>
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
