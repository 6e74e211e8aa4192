// The path of a robot's tip in space, to be turned by hand, with the place at the frame that is shown.
import { type Signal, useSignal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import { t } from '../../texts/t.js';
import { Range } from '../../ui/index.js';
import type { Playback } from '../player/playback.js';
import type { Point3 } from './action-path.js';
import { linePath, rowOfFrame } from './plot-scale.js';
import { type Ball, ballOf, firstViewpoint, project, turnBy, type Viewpoint } from './projection.js';
import { useWidth } from './use-width.js';

export interface PathViewProps {
  readonly title: string;
  /** Places; one more than rows where steps start at the origin. */
  readonly path: readonly Point3[];
  readonly rows: number;
  /** Gripper of each row, where there is one: above a half is open. */
  readonly grippers: readonly number[] | null;
  readonly playback: Playback;
}

const degrees = 180 / Math.PI;

/** The picture of the path, with sliders that turn it. */
export function PathView({ title, path, rows, grippers, playback }: PathViewProps) {
  const [box, width] = useWidth<HTMLDivElement>(280);
  const size = Math.min(width, 360);
  const ball = useMemo(() => ballOf(path), [path]);
  const viewpoint = useSignal<Viewpoint>(firstViewpoint(path));
  const view = viewpoint.value;
  return (
    <figure class="see-plot">
      <figcaption>
        <h3>{title}</h3>
      </figcaption>
      <div ref={box} class="see-path">
        <TurnedSurface size={size} title={title} viewpoint={viewpoint}>
          <Axes view={view} ball={ball} size={size} />
          <path
            class="see-line see-series-1 see-solid"
            d={linePath(path.map((point) => project(point, view, ball, size)))}
          />
          {grippers && <GripMarks path={path} grippers={grippers} view={view} ball={ball} size={size} />}
          <Here path={path} rows={rows} playback={playback} view={view} ball={ball} size={size} />
        </TurnedSurface>
      </div>
      <div class="see-turn">
        <Range
          label={t('see.turn')}
          value={Math.round(view.yaw * degrees)}
          min={-180}
          max={180}
          step={5}
          onInput={(yaw) => {
            viewpoint.value = { ...viewpoint.value, yaw: yaw / degrees };
          }}
        />
        <Range
          label={t('see.tilt')}
          value={Math.round(view.pitch * degrees)}
          min={-90}
          max={90}
          step={5}
          onInput={(pitch) => {
            viewpoint.value = { ...viewpoint.value, pitch: pitch / degrees };
          }}
        />
      </div>
      {grippers && <p class="muted small">{t('see.gripMarks')}</p>}
    </figure>
  );
}

interface Turned {
  readonly view: Viewpoint;
  readonly ball: Ball;
  readonly size: number;
}

interface SurfaceProps {
  readonly size: number;
  readonly title: string;
  readonly viewpoint: Signal<Viewpoint>;
  readonly children: preact.ComponentChildren;
}

function TurnedSurface({ size, title, viewpoint, children }: SurfaceProps) {
  const last = useRef<{ x: number; y: number } | null>(null);
  const drag = (event: PointerEvent) => {
    const before = last.current;
    if (before === null) return;
    viewpoint.value = turnBy(viewpoint.value, (event.clientX - before.x) / 100, (event.clientY - before.y) / 100);
    last.current = { x: event.clientX, y: event.clientY };
  };
  const end = () => {
    last.current = null;
  };
  return (
    <svg
      class="see-path-surface"
      width={size}
      height={size}
      role="img"
      aria-label={title}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        last.current = { x: event.clientX, y: event.clientY };
      }}
      onPointerMove={drag}
      onPointerUp={end}
      onPointerCancel={end}
    >
      {children}
    </svg>
  );
}

function Axes({ view, ball, size }: Turned) {
  const start: Point3 = [ball.middle[0], ball.middle[1], ball.middle[2]];
  const length = ball.radius * 0.9;
  const ends = [
    { name: 'x', point: [start[0] + length, start[1], start[2]] },
    { name: 'y', point: [start[0], start[1] + length, start[2]] },
    { name: 'z', point: [start[0], start[1], start[2] + length] },
  ] as const;
  const from = project(start, view, ball, size);
  return (
    <g>
      {ends.map(({ name, point }) => {
        const to = project(point, view, ball, size);
        const isEndOn = Math.hypot(to.x - from.x, to.y - from.y) < 8;
        return (
          <g key={name}>
            <line class="see-grid" x1={from.x} y1={from.y} x2={to.x} y2={to.y} />
            {!isEndOn && (
              <text class="see-tick" x={to.x + 4} y={to.y + 4}>
                {name}
              </text>
            )}
          </g>
        );
      })}
    </g>
  );
}

interface GripProps extends Turned {
  readonly path: readonly Point3[];
  readonly grippers: readonly number[];
}

/** Closed grippers are full dots, open ones rings. */
function GripMarks({ path, grippers, view, ball, size }: GripProps) {
  const offset = path.length - grippers.length;
  return (
    <g>
      {grippers.map((value, row) => {
        const point = path[row + offset];
        if (point === undefined) return null;
        const { x, y } = project(point, view, ball, size);
        return (
          // Rows never move: their number is their name.
          <circle key={`row-${row}`} class={value > 0.5 ? 'see-open' : 'see-closed'} cx={x} cy={y} r={3} />
        );
      })}
    </g>
  );
}

interface HereProps extends Turned {
  readonly path: readonly Point3[];
  readonly rows: number;
  readonly playback: Playback;
}

function Here({ path, rows, playback, view, ball, size }: HereProps) {
  const { frames } = playback.clip.value;
  const frame = playback.frame.value;
  const isBeforeFirst = path.length > rows && frames > rows && frame === 0;
  const point = path[isBeforeFirst ? 0 : rowOfFrame(frame, rows, frames) + path.length - rows];
  if (point === undefined) return null;
  const { x, y } = project(point, view, ball, size);
  return <circle class="see-here" cx={x} cy={y} r={6} />;
}
