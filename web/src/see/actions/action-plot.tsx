// Columns of actions over time, with a line at the row that leads to the frame that is shown.
import { useMemo, useRef } from 'preact/hooks';
import { formatNumber } from '../../texts/format.js';
import type { Playback } from '../player/playback.js';
import type { ActionColumn } from './action-layout.js';
import { extentOf, frameOfRow, linePath, rowOfFrame, scaleTo, ticksOf } from './plot-scale.js';
import { useWidth } from './use-width.js';

type Rows = readonly (readonly number[])[];

export interface ActionPlotProps {
  readonly title: string;
  readonly rows: Rows;
  readonly columns: readonly ActionColumn[];
  readonly playback: Playback;
  /** Values between 0 and 1 that switch: drawn with corners, on a scale from 0 to 1. */
  readonly isSwitch?: boolean | undefined;
}

const margin = { left: 52, right: 8, top: 8, bottom: 20 };

/** One plot. Lines differ in colour and in dashes. */
export function ActionPlot({ title, rows, columns, playback, isSwitch = false }: ActionPlotProps) {
  const [box, width] = useWidth<HTMLDivElement>(320);
  const height = isSwitch ? 88 : 148;
  const plot = useMemo(
    () => drawPlot(rows, columns, { width, height, isSwitch }),
    [rows, columns, width, height, isSwitch],
  );
  const surface = useRef<SVGSVGElement>(null);
  const seek = (event: PointerEvent) => {
    // A mouse leads by pointing alone, unless the clip is playing; a finger by touching.
    const isPointing = event.type === 'pointermove' && event.buttons === 0;
    if (isPointing && (event.pointerType !== 'mouse' || playback.isPlaying.value)) return;
    const left = surface.current?.getBoundingClientRect().left ?? 0;
    const part = (event.clientX - left - margin.left) / Math.max(1, width - margin.left - margin.right);
    const row = Math.max(0, Math.min(rows.length - 1, Math.round(part * (rows.length - 1))));
    playback.pause();
    playback.seekFrame(frameOfRow(row, rows.length, playback.clip.value.frames));
  };
  return (
    <figure class="see-plot">
      <figcaption class="row">
        <h3>{title}</h3>
        <Legend rows={rows} columns={columns} playback={playback} />
      </figcaption>
      <div ref={box}>
        <svg
          ref={surface}
          class="see-plot-surface"
          width={width}
          height={height}
          role="img"
          aria-label={title}
          onPointerDown={seek}
          onPointerMove={seek}
        >
          {plot.ticks.map(({ y, text }) => (
            <g key={text}>
              <line class="see-grid" x1={margin.left} x2={width - margin.right} y1={y} y2={y} />
              <text class="see-tick" x={margin.left - 6} y={y + 4} text-anchor="end">
                {text}
              </text>
            </g>
          ))}
          {plot.steps.map(({ x, text }) => (
            <text key={text} class="see-tick" x={x} y={height - 4} text-anchor="middle">
              {text}
            </text>
          ))}
          {plot.lines.map((path, i) => (
            <path key={columns[i]?.label} class={`see-line see-series-${(i % 6) + 1}`} d={path} />
          ))}
          <Cursor rows={rows.length} playback={playback} xOf={plot.xOf} height={height} />
        </svg>
      </div>
    </figure>
  );
}

/** Names of the lines with their values in the current row. */
function Legend({ rows, columns, playback }: Pick<ActionPlotProps, 'rows' | 'columns' | 'playback'>) {
  const row = rows[rowOfFrame(playback.frame.value, rows.length, playback.clip.value.frames)];
  return (
    <ul class="see-legend">
      {columns.map(({ index, label }, i) => (
        <li key={label}>
          <svg width="22" height="10" aria-hidden="true" focusable="false">
            <path class={`see-line see-series-${(i % 6) + 1}`} d="M0 5L22 5" />
          </svg>
          <span>{label}</span> <span class="mono">{formatNumber(row?.[index] ?? 0, 3)}</span>
        </li>
      ))}
    </ul>
  );
}

interface CursorProps {
  readonly rows: number;
  readonly playback: Playback;
  readonly xOf: (row: number) => number;
  readonly height: number;
}

function Cursor({ rows, playback, xOf, height }: CursorProps) {
  const x = xOf(rowOfFrame(playback.frame.value, rows, playback.clip.value.frames));
  return <line class="see-cursor" x1={x} x2={x} y1={margin.top} y2={height - margin.bottom} />;
}

interface PlotBox {
  readonly width: number;
  readonly height: number;
  readonly isSwitch: boolean;
}

function drawPlot(rows: Rows, columns: readonly ActionColumn[], { width, height, isSwitch }: PlotBox) {
  const values = columns.map(({ index }) => rows.map((row) => row[index] ?? Number.NaN));
  const fitted = extentOf(values.flat());
  const extent = isSwitch ? { low: Math.min(-0.1, fitted.low), high: Math.max(1.1, fitted.high) } : fitted;
  const [left, right] = [margin.left, width - margin.right];
  const [top, bottom] = [margin.top, height - margin.bottom];
  const time = { low: 0, high: Math.max(1, rows.length - 1) };
  const xOf = (row: number) => scaleTo(row, time, left, right);
  const yOf = (value: number) => scaleTo(value, extent, bottom, top);
  const points = (series: readonly number[]) =>
    series.flatMap((value, row) => {
      const point = { x: xOf(row), y: yOf(value) };
      const before = series[row - 1];
      // A switch holds its value until the next row.
      return isSwitch && before !== undefined ? [{ x: point.x, y: yOf(before) }, point] : [point];
    });
  return {
    xOf,
    lines: values.map((series) => linePath(points(series))),
    ticks: ticksOf(extent, isSwitch ? 2 : 4).map((value) => ({ y: yOf(value), text: formatNumber(value, 4) })),
    steps: ticksOf(time, Math.max(2, Math.min(8, Math.floor(width / 80))))
      .filter(Number.isInteger)
      .map((row) => ({ x: xOf(row), text: String(row) })),
  };
}
