// One picture or clip over another, with a line that is moved across: left of it the lower one is seen, right of it the upper.
import type { ReadonlySignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../../texts/t.js';
import { Frame, Range } from '../../ui/index.js';
import type { ZoomView } from '../player/zoom.js';

export interface WipeFrameProps {
  readonly width: number;
  readonly height: number;
  /** Pictures that are looked at closely are moved by dragging; the slider moves the line then. */
  readonly zoom: ReadonlySignal<ZoomView>;
  readonly under: ComponentChildren;
  readonly over: ComponentChildren;
  /** Which side is which. */
  readonly words: string;
}

/** Both, one over the other. */
export function WipeFrame({ width, height, zoom, under, over, words }: WipeFrameProps) {
  const [percent, setPercent] = useState(50);
  const drag = (event: PointerEvent & { readonly currentTarget: HTMLElement }) => {
    const isHover = event.type !== 'pointerdown' && event.buttons === 0;
    if (isHover || zoom.value.scale > 1) return;
    const { left, width: across } = event.currentTarget.getBoundingClientRect();
    setPercent(Math.max(0, Math.min(100, ((event.clientX - left) / Math.max(1, across)) * 100)));
  };
  return (
    <div class="stack-tight see-wipe-box">
      <Frame width={width} height={height}>
        <div class="see-wipe" onPointerDown={drag} onPointerMove={drag}>
          <div class="see-layer">{under}</div>
          <div class="see-layer" style={{ clipPath: `inset(0 0 0 ${percent}%)` }}>
            {over}
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
      <p class="muted small">{words}</p>
    </div>
  );
}
