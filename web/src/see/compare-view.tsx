// Any two results next to each other.
import './see.css';
import type { Job } from '../../../src/protocol/index.js';
import { hrefOf } from '../app/router.js';
import { describeError } from '../store/toasts.js';
import { t } from '../texts/t.js';
import { EmptyState, LinkButton, Notice, Spinner } from '../ui/index.js';
import { CompareStage, type Side } from './compare/compare-stage.js';
import { cellOf, differencesOf } from './compare/differences.js';
import { SideChoice } from './compare/side-choice.js';
import { mediaOf } from './media-of.js';
import { longestOf } from './player/frame-maths.js';
import { usePlayback } from './player/use-playback.js';
import { repeatForm } from './request/repeat-form.js';
import { type Result, useResult } from './use-result.js';

/** The view of two results; fewer ids leave a choice open, more are not looked at. */
export function CompareView({ jobIds }: { readonly jobIds: readonly string[] }) {
  const [first = '', second = ''] = jobIds;
  return (
    <div class="stack">
      <h1>{t('see.compare')}</h1>
      {first !== '' && second !== '' ? (
        <Both key={`${first} ${second}`} first={first} second={second} />
      ) : (
        <>
          <SideChoice first={first} second={second} chosen={[]} />
          <EmptyState title={t('see.compareEmpty')} text={t('see.compareHow')}>
            <LinkButton href={hrefOf({ name: 'gallery' })}>{t('see.toGallery')}</LinkButton>
          </EmptyState>
        </>
      )}
    </div>
  );
}

function Both({ first, second }: { readonly first: string; readonly second: string }) {
  const results = [useResult(first), useResult(second)] as const;
  const jobs = results.flatMap(({ job }) => (job === null ? [] : [job]));
  const refresh = () => {
    for (const result of results) result.refresh();
  };
  return (
    <div class="stack">
      <SideChoice first={first} second={second} chosen={jobs} />
      <Shown results={results} onBroken={refresh} />
    </div>
  );
}

function Shown({ results, onBroken }: { readonly results: readonly [Result, Result]; readonly onBroken: () => void }) {
  const [a, b] = results;
  const error = a.error ?? b.error;
  if (a.job !== null && b.job !== null) return <Pair first={a.job} second={b.job} onBroken={onBroken} />;
  if (error !== null) return <Notice kind="error">{describeError(error)}</Notice>;
  return <Spinner label={t('see.loading')} />;
}

interface PairProps {
  readonly first: Job;
  readonly second: Job;
  readonly onBroken: () => void;
}

function Pair({ first, second, onBroken }: PairProps) {
  const sides = [sideOf('first', first), sideOf('second', second)] as const;
  const [a, b] = sides;
  const clip = longestOf(sides.flatMap((side) => (side === null ? [] : [side.media.clip]))) ?? { frames: 1, fps: 1 };
  const heard = a?.media.hasSound === false && b?.media.hasSound ? 'second' : 'first';
  const playback = usePlayback(`${first.id} ${second.id}`, clip, heard);
  return (
    <div class="stack">
      {a && b ? (
        <CompareStage sides={[a, b]} playback={playback} onBroken={onBroken} />
      ) : (
        <Notice kind="info">{t('see.nothingToCompare')}</Notice>
      )}
      <Differences first={first} second={second} />
    </div>
  );
}

function sideOf(key: 'first' | 'second', job: Job): Side | null {
  const media = mediaOf(job);
  return media === null ? null : { key, job, media };
}

function Differences({ first, second }: { readonly first: Job; readonly second: Job }) {
  const rows = differencesOf(repeatForm(first), repeatForm(second));
  return (
    <section class="card stack" aria-labelledby="see-differences">
      <h2 id="see-differences">{t('see.differences')}</h2>
      {rows.length === 0 ? (
        <p class="muted">{t('see.noDifferences')}</p>
      ) : (
        <div class="see-table">
          <table>
            <thead>
              <tr>
                <th scope="col">{t('see.field')}</th>
                <th scope="col">
                  <a href={hrefOf({ name: 'job', id: first.id })}>{t('see.first')}</a>
                </th>
                <th scope="col">
                  <a href={hrefOf({ name: 'job', id: second.id })}>{t('see.second')}</a>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.name}>
                  <th scope="row" class="mono">
                    {row.name}
                  </th>
                  <td>{cellOf(row.first)}</td>
                  <td>{cellOf(row.second)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
