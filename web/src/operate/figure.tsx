// A figure with its course over the last minutes.
import type { ComponentChildren } from 'preact';
import { t } from '../texts/t.js';
import { mostSamples, type Series, sparkPath } from './history.js';

export interface FigureProps {
  readonly label: string;
  readonly value: string;
  readonly series: Series | undefined;
  /** Value of the upper edge of the course; its own greatest where absent. */
  readonly most?: number | undefined;
  readonly children?: ComponentChildren;
}

const width = mostSamples - 1;
const height = 40;

/** The card of a figure. */
export function Figure({ label, value, series = [], most, children }: FigureProps) {
  const { line, area, last } = sparkPath(series, width, height, most);
  return (
    <div class="card operate-figure">
      <p class="muted small">{label}</p>
      <p class="operate-value">{value}</p>
      {children && <p class="muted small">{children}</p>}
      <svg
        class="operate-spark"
        viewBox={`-1 -3 ${width + 4} ${height + 6}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={t('operate.course', { label })}
      >
        <path class="operate-area" d={area} />
        <path class="operate-line" d={line} vector-effect="non-scaling-stroke" />
        {last && <path class="operate-last" d={`M${last.x} ${last.y}h0.01`} vector-effect="non-scaling-stroke" />}
      </svg>
    </div>
  );
}
