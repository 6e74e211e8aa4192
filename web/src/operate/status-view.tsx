// How the server is: devices, memory, queue, speed, failures, each with its course.
import './operate.css';
import type { ServerStatus } from '../../../src/protocol/index.js';
import { hrefOf } from '../app/router.js';
import { describeError } from '../store/toasts.js';
import { formatBytes, formatDate, formatNumber, formatSeconds } from '../texts/format.js';
import { t, tMaybe } from '../texts/t.js';
import { Notice, Spinner } from '../ui/index.js';
import { Figure } from './figure.js';
import { meanPhases, rankedCounts } from './figures.js';
import type { History } from './history.js';
import { useStatus } from './use-status.js';

/** The view of the server. */
export function StatusView() {
  const { status, error, history } = useStatus();
  return (
    <div class="stack">
      <h1>{t('operate.title')}</h1>
      {error !== null && <Notice kind="error">{describeError(error)}</Notice>}
      {status === null ? (
        error === null && <Spinner label={t('operate.loading')} />
      ) : (
        <Shown status={status} history={history} />
      )}
    </div>
  );
}

interface ShownProps {
  readonly status: ServerStatus;
  readonly history: History;
}

function Shown({ status, history }: ShownProps) {
  return (
    <div class="stack">
      <p class="muted">
        {t('operate.server', {
          version: status.version,
          model: status.model,
          time: formatSeconds(status.uptime_s),
          since: formatDate(status.started_at),
        })}
      </p>
      {status.draining && <Notice kind="info">{t('operate.draining')}</Notice>}
      <div class="operate-figures">
        <Figures status={status} history={history} />
      </div>
      <Devices status={status} />
      <div class="split">
        <Counts title={t('operate.failures')} none={t('operate.noFailures')} counts={status.failures} />
        <Counts title={t('operate.refusals')} none={t('operate.noRefusals')} counts={status.refusals} />
      </div>
      <Phases status={status} />
    </div>
  );
}

function Figures({ status, history }: ShownProps) {
  const { devices, host, queue, ended, steps_per_second: speeds } = status;
  const resident = devices.reduce((sum, device) => sum + device.resident_bytes, 0);
  const deviceMemory = devices.reduce((sum, device) => sum + (device.memory_total_bytes ?? 0), 0);
  const hostUsed = host.memory_total_bytes - host.memory_free_bytes;
  const of = (used: number, all: number) =>
    all > 0 ? t('operate.of', { all: formatBytes(all), percent: percentOf(used, all) }) : null;
  const busy = devices.filter((device) => device.status === 'busy').length;
  return (
    <>
      <Figure
        label={t('operate.busy')}
        value={t('operate.busyOf', { busy, all: devices.length })}
        series={history.busy}
        most={devices.length}
      />
      <Figure label={t('operate.queued')} value={formatNumber(queue.queued)} series={history.queued} />
      <Figure label={t('operate.running')} value={formatNumber(queue.in_progress)} series={history.running} />
      <Figure label={t('operate.memory')} value={formatBytes(resident)} series={history.memory} most={deviceMemory}>
        {of(resident, deviceMemory)}
      </Figure>
      <Figure
        label={t('operate.hostMemory')}
        value={formatBytes(hostUsed)}
        series={history.hostMemory}
        most={host.memory_total_bytes}
      >
        {of(hostUsed, host.memory_total_bytes)}
      </Figure>
      <Figure label={t('operate.finished')} value={formatNumber(ended.completed ?? 0)} series={history.finished}>
        {t('operate.stored', { count: queue.completed, total: formatNumber(queue.completed) })}
      </Figure>
      <Figure label={t('operate.failed')} value={formatNumber(ended.failed ?? 0)} series={history.failed} />
      {Object.entries(speeds).map(([task, rate]) => (
        <Figure
          key={task}
          label={t('operate.speed', { task: taskName(task) })}
          value={t('operate.stepsPerSecond', { rate: formatNumber(rate, rate < 10 ? 2 : 1) })}
          series={history[`steps ${task}`]}
        />
      ))}
    </>
  );
}

function Devices({ status }: { readonly status: ServerStatus }) {
  const { devices, host, running } = status;
  return (
    <section class="card stack" aria-labelledby="operate-devices">
      <h2 id="operate-devices">{t('operate.devices')}</h2>
      <ul class="stack">
        {devices.map((device) => {
          const job = running.find(({ id }) => id === device.job_id);
          return (
            <li key={device.device} class="stack-tight">
              <div class="row">
                <strong>{device.device}</strong>
                <span>{device.name}</span>
                <span class={`operate-state operate-${device.status}`}>{t(`operate.state.${device.status}`)}</span>
                {device.restarts > 0 && <span class="muted">{t('operate.restarts', { count: device.restarts })}</span>}
              </div>
              {job && (
                <p>
                  <a href={hrefOf({ name: 'job', id: job.id })}>
                    {job.task === null ? t('operate.job') : taskName(job.task)}
                  </a>{' '}
                  {job.progress && (
                    <span class="muted">
                      {t('operate.step', { step: job.progress.step, steps: job.progress.steps })}
                    </span>
                  )}
                </p>
              )}
              {device.last_crash !== null && (
                <p class="muted small">{t('operate.lastCrash', { how: device.last_crash })}</p>
              )}
            </li>
          );
        })}
      </ul>
      <p class="muted small">
        {t('operate.host', {
          cpu: host.cpu,
          cores: host.cores,
          memory: formatBytes(host.memory_total_bytes),
          disk: host.disk_free_bytes === null ? '–' : formatBytes(host.disk_free_bytes),
        })}
      </p>
    </section>
  );
}

interface CountsProps {
  readonly title: string;
  readonly none: string;
  readonly counts: Readonly<Record<string, number>>;
}

function Counts({ title, none, counts }: CountsProps) {
  const ranked = rankedCounts(counts);
  const most = ranked[0]?.[1] ?? 1;
  return (
    <section class="card stack" aria-label={title}>
      <h2>{title}</h2>
      {ranked.length === 0 && <p class="muted">{none}</p>}
      <Bars rows={ranked.map(([code, count]) => ({ name: code, part: count / most, value: formatNumber(count) }))} />
    </section>
  );
}

function Phases({ status }: { readonly status: ServerStatus }) {
  const phases = meanPhases(status.phase_seconds);
  const most = phases[0]?.[1] ?? 1;
  if (phases.length === 0) return null;
  const rows = phases.map(([phase, seconds]) => ({
    name: tMaybe(`see.phase.${phase}`) ?? phase,
    part: seconds / most,
    value: formatSeconds(seconds),
  }));
  return (
    <section class="card stack" aria-labelledby="operate-phases">
      <h2 id="operate-phases">{t('operate.phases')}</h2>
      <Bars rows={rows} />
    </section>
  );
}

interface Bar {
  readonly name: string;
  /** Of the longest bar, 0 … 1. */
  readonly part: number;
  readonly value: string;
}

function Bars({ rows }: { readonly rows: readonly Bar[] }) {
  if (rows.length === 0) return null;
  return (
    <dl class="operate-bars">
      {rows.map(({ name, part, value }) => (
        <div key={name}>
          <dt class="mono">{name}</dt>
          <dd>
            <span class="operate-bar" style={{ inlineSize: `${Math.max(1, part * 75)}%` }} aria-hidden="true" />
            <span>{value}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function taskName(task: string): string {
  return tMaybe(`task.${task}`) ?? task;
}

function percentOf(used: number, all: number): string {
  return formatNumber((used / all) * 100);
}
