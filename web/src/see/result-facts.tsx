// What a job was in numbers, and what the server noted about it.
import type { Job } from '../../../src/protocol/index.js';
import { formatBytes, formatDate, formatNumber, formatSeconds } from '../texts/format.js';
import { t, tMaybe } from '../texts/t.js';
import { Disclosure, Notice } from '../ui/index.js';

/** The numbers, as terms with their values. */
export function ResultFacts({ job }: { readonly job: Job }) {
  return (
    <section class="card stack" aria-labelledby="see-facts">
      <h2 id="see-facts">{t('see.facts')}</h2>
      <dl class="see-facts">
        {factsOf(job).map(([term, value]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {job.warnings.length > 0 && (
        <Notice kind="info">
          <ul class="stack-tight">
            {job.warnings.map(({ param, message }) => (
              <li key={`${param} ${message}`}>
                <span class="mono">{param}</span> {message}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {Object.keys(job.stage_durations).length > 0 && (
        <Disclosure summary={t('see.durations')}>
          <dl class="see-facts">
            {Object.entries(job.stage_durations).map(([phase, seconds]) => (
              <div key={phase}>
                <dt>{tMaybe(`see.phase.${phase}`) ?? phase}</dt>
                <dd>{formatSeconds(seconds)}</dd>
              </div>
            ))}
          </dl>
        </Disclosure>
      )}
    </section>
  );
}

/** Terms with values; what is not known has no line. */
function factsOf(job: Job): readonly (readonly [string, string])[] {
  const facts: readonly (readonly [string, string | null])[] = [
    [t('see.fact.task'), job.task === null ? null : (tMaybe(`task.${job.task}`) ?? job.task)],
    [t('see.fact.size'), whenKnown(job.width, (width) => t('unit.pixels', { width, height: job.height ?? 0 }))],
    [t('see.fact.length'), lengthOf(job)],
    [t('see.fact.seed'), whenKnown(job.seed, String)],
    [t('see.fact.steps'), whenKnown(job.num_inference_steps, String)],
    [t('see.fact.guidance'), whenKnown(job.guidance_scale, (value) => formatNumber(value, 2))],
    [t('see.fact.shift'), whenKnown(job.flow_shift, (value) => formatNumber(value, 2))],
    [t('see.fact.took'), whenKnown(job.inference_time_s, formatSeconds)],
    [t('see.fact.memory'), job.peak_memory_mb > 0 ? formatBytes(job.peak_memory_mb * 1024 * 1024) : null],
    [t('see.fact.model'), job.model],
    [t('see.fact.made'), formatDate(job.created_at)],
    [t('see.fact.expires'), whenKnown(job.expires_at, formatDate)],
    [t('see.fact.negative'), job.negative_prompt === '' ? null : job.negative_prompt],
  ];
  return facts.flatMap(([term, value]) => (value === null ? [] : [[term, value] as const]));
}

function lengthOf({ kind, num_frames, fps, duration_s }: Job): string | null {
  if (kind === 'image' || num_frames === null || num_frames < 2) return null;
  const frames = t('unit.frames', { count: num_frames });
  if (fps === null || duration_s === null) return frames;
  return t('see.lengthOf', { time: formatSeconds(duration_s), frames, fps: formatNumber(fps, 3) });
}

function whenKnown<Value>(value: Value | null, write: (value: Value) => string): string | null {
  return value === null ? null : write(value);
}
