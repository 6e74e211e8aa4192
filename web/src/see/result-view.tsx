// A finished job: what it made, in step with what went in, its actions, its numbers, and how to ask for it again.
import './see.css';
import type { Job } from '../../../src/protocol/index.js';
import { describeError } from '../store/toasts.js';
import { t } from '../texts/t.js';
import { Notice, Spinner } from '../ui/index.js';
import { ActionsView } from './actions/actions-view.js';
import { Downloads } from './downloads.js';
import { mediaOf } from './media-of.js';
import { usePlayback } from './player/use-playback.js';
import { RequestPanel } from './request/request-panel.js';
import { ResultActions } from './result-actions.js';
import { ResultFacts } from './result-facts.js';
import { ResultStage, resultPart } from './result-stage.js';
import { usePlan, useResult } from './use-result.js';

/** The view of a job's result. */
export function ResultView({ jobId }: { readonly jobId: string }) {
  const { job, error, refresh } = useResult(jobId);
  if (job !== null) return <Shown key={jobId} job={job} onBroken={refresh} />;
  if (error !== null) return <Notice kind="error">{describeError(error)}</Notice>;
  return <Spinner label={t('see.loading')} />;
}

function Shown({ job, onBroken }: { readonly job: Job; readonly onBroken: () => void }) {
  const media = mediaOf(job);
  const plan = usePlan(job.id, true);
  // Actions alone are stepped through like the clip that they would have.
  const rows = job.action?.data.length ?? 1;
  const clip = media?.clip ?? { frames: Math.max(rows, job.num_frames ?? 0, 1), fps: job.fps || 1 };
  const playback = usePlayback(job.id, clip, resultPart);
  return (
    <div class="stack see-result">
      {media === null && job.action === null ? (
        <Notice kind="info">{t('see.nothing')}</Notice>
      ) : (
        <ResultStage job={job} media={media} plan={plan} playback={playback} onBroken={onBroken} />
      )}
      <ResultActions job={job} media={media} playback={playback} />
      {job.action && <ActionsView job={job} action={job.action} playback={playback} media={media} />}
      <div class="split">
        <ResultFacts job={job} />
        <Downloads job={job} />
      </div>
      <RequestPanel job={job} plan={plan} />
    </div>
  );
}
