// Length of a clip in seconds and in frames, which say the same, and how fast it runs.
import { useState } from 'preact/hooks';
import { t } from '../texts/t.js';
import { NumberField } from '../ui/index.js';
import { type Draft, setValue } from './draft.js';
import { limitsOf, schemaOf } from './fields.js';

export interface LengthFieldProps {
  readonly draft: Draft;
  /** What holds where nothing is typed. */
  readonly usual: { readonly frames: number; readonly fps: number };
  readonly errors: Readonly<Record<string, string>>;
}

/** Seconds, frames, and frames per second. Frames are what is sent. */
export function LengthField({ draft, usual, errors }: LengthFieldProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const { num_frames: framesText = '', fps: fpsText = '' } = draft.values.value;
  const fps = positive(fpsText) ?? usual.fps;
  const frames = positive(framesText);
  const { min: least } = limitsOf(schemaOf('num_frames'));
  const shown = typed ?? (frames === undefined ? framesText : tidy(frames / fps));
  const fromSeconds = (text: string) => {
    setTyped(text);
    const seconds = positive(text);
    setValue(draft, 'num_frames', seconds === undefined ? text.trim() : String(Math.max(1, Math.round(seconds * fps))));
  };
  return (
    <div class="make-three">
      <NumberField
        label={t('make.seconds')}
        name="seconds"
        step={0.5}
        min={least && Number(tidy(least / fps))}
        value={shown}
        placeholder={tidy(usual.frames / fps)}
        error={errors.seconds}
        onInput={fromSeconds}
      />
      <NumberField
        label={t('make.frames')}
        name="num_frames"
        {...limitsOf(schemaOf('num_frames'))}
        step={4}
        value={framesText}
        placeholder={String(usual.frames)}
        error={errors.num_frames}
        onInput={(text) => {
          setTyped(null);
          setValue(draft, 'num_frames', text);
        }}
      />
      <NumberField
        label={t('make.fps')}
        name="fps"
        {...limitsOf(schemaOf('fps'))}
        step={1}
        value={fpsText}
        placeholder={tidy(usual.fps)}
        error={errors.fps}
        onInput={(text) => {
          setTyped(null);
          setValue(draft, 'fps', text);
        }}
      />
    </div>
  );
}

function positive(text: string): number | undefined {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) && value > 0 ? value : undefined;
}

function tidy(value: number): string {
  return String(Math.round(value * 100) / 100);
}
