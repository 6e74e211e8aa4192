// The controls of a playback.

import { formatNumber } from '../../texts/format.js';
import { t } from '../../texts/t.js';
import { IconButton, Range, Select } from '../../ui/index.js';
import type { Fullscreen } from '../use-fullscreen.js';
import { clockOf, durationOf } from './frame-maths.js';
import { speeds } from './key-commands.js';
import type { Playback } from './playback.js';

export interface TransportProps {
  readonly playback: Playback;
  readonly hasSound: boolean;
  readonly screen: Fullscreen;
}

/** The bar below a player. */
export function Transport({ playback, hasSound, screen }: TransportProps) {
  return (
    <fieldset class="see-transport" aria-label={t('see.controls')}>
      <Scrubber playback={playback} />
      <div class="row see-buttons">
        <PlayButton playback={playback} />
        <IconButton
          label={t('see.frameBack')}
          icon="frameBack"
          onClick={() => playback.run({ kind: 'step', by: -1 })}
        />
        <IconButton
          label={t('see.frameForward')}
          icon="frameForward"
          onClick={() => playback.run({ kind: 'step', by: 1 })}
        />
        <Clock playback={playback} />
        <span class="push" />
        <LoopButton playback={playback} />
        <SpeedChoice playback={playback} />
        {hasSound && <Sound playback={playback} />}
        <IconButton label={t('see.fullscreen')} icon="fullscreen" isPressed={screen.isFull} onClick={screen.toggle} />
      </div>
      <p class="muted small see-keys">{t('see.keys')}</p>
    </fieldset>
  );
}

function PlayButton({ playback }: { readonly playback: Playback }) {
  const isPlaying = playback.isPlaying.value;
  if (!playback.canPlay.value) return null;
  return (
    <IconButton
      class="see-play"
      label={isPlaying ? t('see.pause') : t('see.play')}
      icon={isPlaying ? 'pause' : 'play'}
      onClick={() => playback.run({ kind: 'toggle' })}
    />
  );
}

function Scrubber({ playback }: { readonly playback: Playback }) {
  const clip = playback.clip.value;
  const frame = playback.frame.value;
  const values = { frame: frame + 1, frames: clip.frames, time: clockOf(frame / clip.fps) };
  return (
    <Range
      label={t('see.frame')}
      isLabelHidden
      value={frame}
      min={0}
      max={Math.max(1, clip.frames - 1)}
      step={1}
      valueText={t('see.frameOf', values)}
      onInput={(wanted) => {
        playback.pause();
        playback.seekFrame(wanted);
      }}
    />
  );
}

function Clock({ playback }: { readonly playback: Playback }) {
  const clip = playback.clip.value;
  const frame = playback.frame.value;
  return (
    <span class="see-clock mono">
      <span>{t('see.clock', { now: clockOf(frame / clip.fps), all: clockOf(durationOf(clip)) })}</span>{' '}
      <span class="muted">{t('see.frameCount', { frame: frame + 1, frames: clip.frames })}</span>
    </span>
  );
}

function LoopButton({ playback }: { readonly playback: Playback }) {
  return (
    <IconButton
      label={t('see.loop')}
      icon="loop"
      isPressed={playback.loops.value}
      onClick={() => playback.run({ kind: 'loop' })}
    />
  );
}

function SpeedChoice({ playback }: { readonly playback: Playback }) {
  return (
    <div class="see-speed">
      <Select
        label={t('see.speed')}
        isLabelHidden
        value={String(playback.speed.value)}
        options={speeds.map((speed) => ({
          value: String(speed),
          label: t('see.speedOption', { speed: formatNumber(speed, 2) }),
        }))}
        onChange={(speed) => {
          playback.speed.value = Number(speed);
        }}
      />
    </div>
  );
}

function Sound({ playback }: { readonly playback: Playback }) {
  const isMuted = playback.isMuted.value;
  return (
    <div class="row see-sound">
      <IconButton
        label={isMuted ? t('see.unmute') : t('see.mute')}
        icon={isMuted ? 'mute' : 'sound'}
        onClick={() => playback.run({ kind: 'mute' })}
      />
      <div class="see-volume">
        <Range
          label={t('see.volume')}
          isLabelHidden
          value={Math.round(playback.volume.value * 100)}
          min={0}
          max={100}
          step={5}
          onInput={(percent) => {
            playback.volume.value = percent / 100;
            playback.isMuted.value = percent === 0;
          }}
        />
      </div>
    </div>
  );
}
