// Robot actions of a job: plots over time, the path in space, and the numbers to take along.
import { useMemo } from 'preact/hooks';
import type { Job } from '../../../../src/protocol/index.js';
import { t } from '../../texts/t.js';
import { Button, Frame } from '../../ui/index.js';
import type { Media } from '../media-of.js';
import { ClipVideo } from '../player/clip-video.js';
import type { Playback } from '../player/playback.js';
import { isNamed } from '../request/repeat-form.js';
import { saveFile } from '../save-file.js';
import { actionCsv } from './action-csv.js';
import { type ColumnGroup, labelsOf, layoutOf, type RowWords } from './action-layout.js';
import { pathOf } from './action-path.js';
import { ActionPlot } from './action-plot.js';
import { PathView } from './path-view.js';

type Action = NonNullable<Job['action']>;

export interface ActionsViewProps {
  readonly job: Job;
  readonly action: Action;
  readonly playback: Playback;
  /** The clip that the actions go with; null where there is none. */
  readonly media: Media | null;
}

/** Plots of all columns, a path for each arm whose rows have one. */
export function ActionsView({ job, action, playback, media }: ActionsViewProps) {
  const rows = action.data;
  const words = rowWordsOf(job.request);
  const layout = useMemo(() => layoutOf(rows[0]?.length ?? 0, words), [rows, words]);
  const paths = useMemo(
    () =>
      layout.paths.map(({ arm, source, gripper }) => ({
        arm,
        path: pathOf(rows, source),
        grippers: gripper === null ? null : rows.map((row) => row[gripper] ?? 0),
      })),
    [layout, rows],
  );
  const csv = () => actionCsv({ rows, labels: labelsOf(layout), frames: job.num_frames ?? 0, fps: job.fps ?? 0 });
  if (rows.length === 0) return <p class="muted">{t('see.noActions')}</p>;
  return (
    <section class="card stack" aria-labelledby="see-actions">
      <div class="row">
        <h2 id="see-actions">{t('see.actions')}</h2>
        <span class="muted small">{t('see.actionRows', { count: rows.length, numbers: rows[0]?.length ?? 0 })}</span>
        <span class="push" />
        <Button icon="download" onClick={() => saveFile(new File([csv()], `${job.id}.csv`, { type: 'text/csv' }))}>
          {t('see.csv')}
        </Button>
        <Button
          icon="download"
          onClick={() =>
            saveFile(new File([`${JSON.stringify(action, null, 2)}\n`], `${job.id}.json`, { type: 'application/json' }))
          }
        >
          {t('see.json')}
        </Button>
      </div>
      <div class="see-plots">
        {layout.groups.map((group) => (
          <ActionPlot
            key={`${group.kind} ${group.arm}`}
            title={titleOf(group)}
            rows={rows}
            columns={group.columns}
            playback={playback}
            isSwitch={group.kind === 'gripper'}
          />
        ))}
        {paths.map(({ arm, path, grippers }) => (
          <PathView
            key={arm}
            title={arm === 0 ? t('see.path') : t('see.ofArm', { what: t('see.path'), arm })}
            path={path}
            rows={rows.length}
            grippers={grippers}
            playback={playback}
          />
        ))}
        {media?.kind === 'clip' && (
          <figure class="see-plot see-here-frame">
            <figcaption>
              <h3>{t('see.frameHere')}</h3>
            </figcaption>
            <Frame width={media.width} height={media.height}>
              <ClipVideo
                playback={playback}
                partKey="here"
                url={media.url}
                clip={media.clip}
                label={t('see.frameHere')}
                isByFrame
              />
            </Frame>
          </figure>
        )}
      </div>
    </section>
  );
}

function titleOf({ kind, arm }: ColumnGroup): string {
  const titles = {
    position: t('see.column.position'),
    rotation: t('see.column.rotation'),
    joints: t('see.column.joints'),
    gripper: t('see.column.gripper'),
    numbers: t('see.column.numbers'),
  };
  return arm === 0 ? titles[kind] : t('see.ofArm', { what: titles[kind], arm });
}

/** The words in which a request has its rows; the model's own where it says nothing. */
function rowWordsOf(request: Job['request']): RowWords {
  const extra = isNamed(request.extra_params) ? request.extra_params : {};
  const space = extra.action_space ?? request.action_space;
  return space === 'joint_pos' || space === 'midtrain' ? space : 'model';
}
