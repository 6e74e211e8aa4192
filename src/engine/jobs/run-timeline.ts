// How long jobs of a shape take: the course of the latest run foretells the time left of the next one.
import { hashJson } from '../../pipeline/plan/plan-hash.js';
import type { Plan } from '../../pipeline/plan-types.js';
import type { JobDatabase } from './database.js';
import type { JobPhase, JobProgress } from './types.js';

/** Seconds from the start of the run, after loading, by point of progress. `end` is the whole run. */
interface Timeline {
  readonly points: Readonly<Record<string, number>>;
  readonly end: number;
}

type Point = Pick<JobProgress, 'phase' | 'step' | 'steps' | 'chunk' | 'chunks'>;

const paceLimit = 3;
/** Steps that the pace is taken from, the latest ones: a machine that got busy or idle is noticed within a few. */
const pacedSteps = 8;
/** How many steps it takes until their pace is half believed of what is no step. */
const doubt = 4;
/** Share of a run that is not denoising, assumed while nothing better is known. */
const edgeShare = 0.05;

/** Plans of one shape take about the same time: same task, sizes, steps, branches. */
export function shapeOf(plan: Plan): string {
  const { task, model, canvas, frames, steps, schedule, skip } = plan;
  return hashJson({
    task,
    model,
    canvas,
    frames,
    steps,
    solver: schedule.solver,
    guided: plan.guidance.scale > 1 ? plan.guidance.interval : false,
    controlGuided: plan.guidance.controlScale > 1 ? plan.guidance.controlInterval : false,
    condition: plan.condition && { source: plan.condition.source, pixelFrames: plan.condition.pixelFrames },
    sound: plan.sound?.samples ?? 0,
    actions: plan.action?.rows ?? 0,
    decode: plan.action?.decodeVideo ?? true,
    hints: plan.transfer?.hints.map(({ kind, computed }) => [kind, computed]) ?? [],
    chunk: plan.transfer && [plan.transfer.chunkFrames, plan.transfer.totalFrames],
    skipped: skip.steps.length,
    // Text is padded to buckets of this size.
    text: Math.ceil(plan.prompt.tokens.length / 128),
  }).slice(0, 24);
}

/** The courses of the latest runs, by shape, kept with the store. */
export class RunTimelines {
  readonly #database: JobDatabase;
  readonly #known = new Map<string, Timeline | null>();
  readonly #now: () => number;

  constructor(database: JobDatabase, now: () => number = Date.now) {
    this.#database = database;
    this.#now = now;
  }

  /** Seconds that a whole run of the shape takes; null while none has been seen. */
  total(shape: string | null): number | null {
    return this.#find(shape)?.end ?? null;
  }

  /** Seconds that a run of the plan takes; null while none of its shape has been seen. */
  seconds(plan: Plan): number | null {
    return this.total(shapeOf(plan));
  }

  /** Watches a run. `shape` null: nothing is known of it, nothing will be learnt. */
  begin(shape: string | null): RunClock {
    return new RunClock(this.#find(shape), this.#now, (timeline) => {
      if (shape !== null) this.#keep(shape, timeline);
    });
  }

  #find(shape: string | null): Timeline | null {
    if (shape === null) return null;
    const known = this.#known.get(shape);
    if (known !== undefined) return known;
    const sql = 'SELECT timeline FROM timelines WHERE shape = :shape';
    const row = this.#database.get<{ timeline: string }>(sql, { shape });
    const timeline: Timeline | null = row ? JSON.parse(row.timeline) : null;
    this.#known.set(shape, timeline);
    return timeline;
  }

  #keep(shape: string, timeline: Timeline): void {
    this.#known.set(shape, timeline);
    this.#database.run(
      `INSERT INTO timelines (shape, timeline, updated_at) VALUES (:shape, :timeline, :now)
       ON CONFLICT (shape) DO UPDATE SET timeline = excluded.timeline, updated_at = excluded.updated_at`,
      { shape, timeline: JSON.stringify(timeline), now: this.#now() },
    );
  }
}

/** One run: how far it is, how long each phase took, what is left. */
export class RunClock {
  readonly #model: Timeline | null;
  readonly #now: () => number;
  readonly #learn: (timeline: Timeline) => void;
  readonly #points: Record<string, number> = {};
  readonly #phases: Partial<Record<JobPhase, number>> = {};
  #phase: { readonly name: JobPhase; readonly at: number } | null = null;
  #startedAt: number | null = null;
  #expectedEnd: number | null = null;
  #fraction = 0;
  /** The latest point that the last run had too, and the time of each step between two such points, there and here. */
  #latest: { readonly isStep: boolean; readonly model: number; readonly real: number } | null = null;
  readonly #steps: { readonly model: number; readonly real: number }[] = [];

  constructor(model: Timeline | null, now: () => number, learn: (timeline: Timeline) => void) {
    this.#model = model;
    this.#now = now;
    this.#learn = learn;
  }

  /** Seconds of each phase so far. */
  get phases(): Readonly<Partial<Record<JobPhase, number>>> {
    const open = this.#phase;
    if (!open) return this.#phases;
    return { ...this.#phases, [open.name]: (this.#phases[open.name] ?? 0) + this.#since(open.at) };
  }

  /** Seconds until the end as last foretold, less what has passed since; null while nothing is known. */
  get secondsLeft(): number | null {
    return this.#expectedEnd === null ? null : Math.max(0, (this.#expectedEnd - this.#now()) / 1000);
  }

  /** Notes a point that the run has reached. */
  reach(point: Point): JobProgress {
    if (this.#phase?.name !== point.phase) this.#enter(point.phase);
    if (point.phase === 'load') return { ...point, fraction: 0, secondsLeft: this.#model?.end ?? null };
    this.#startedAt ??= this.#now();
    const elapsed = this.#since(this.#startedAt);
    this.#points[keyOf(point)] ??= elapsed;
    const left = this.#model
      ? this.#leftByModel(this.#model, point, elapsed)
      : leftByPace(point, elapsed, this.#points);
    if (left !== null) this.#expectedEnd = this.#now() + left * 1000;
    const fraction = this.#model && left !== null ? elapsed / Math.max(elapsed + left, 1e-9) : fractionOf(point);
    // A better guess may say that less is done than was thought; a bar that runs backwards helps nobody.
    this.#fraction = Math.max(this.#fraction, Math.min(1, fraction));
    return { ...point, fraction: this.#fraction, secondsLeft: left };
  }

  /** Notes the end of a run that went well. */
  finish(): void {
    this.#enter(null);
    if (this.#startedAt !== null) this.#learn({ points: this.#points, end: this.#since(this.#startedAt) });
  }

  /**
   * What the last run still had before it at this point: its steps at the pace of this run's steps, all else at a pace between
   * that and the last run's, since what slows steps down may be the machine or the steps.
   */
  #leftByModel({ points, end }: Timeline, point: Point, elapsed: number): number | null {
    const then = points[keyOf(point)];
    if (then === undefined) return null;
    const isStep = point.phase === 'denoise';
    const latest = this.#latest;
    // The first step of a process makes ready what the others use.
    if (isStep && point.step > 1 && latest?.isStep && then > latest.model) {
      this.#steps.push({ model: then - latest.model, real: elapsed - latest.real });
    }
    this.#latest = { isStep, model: then, real: elapsed };
    const recent = this.#steps.slice(-pacedSteps);
    const [model, real] = [sum(recent.map((step) => step.model)), sum(recent.map((step) => step.real))];
    const pace = model > 0 ? Math.min(paceLimit, Math.max(1 / paceLimit, real / model)) : 1;
    const steps = stepSeconds(points, then);
    const belief = this.#steps.length / (this.#steps.length + doubt);
    return steps * pace + (end - then - steps) * pace ** belief;
  }

  #enter(name: JobPhase | null): void {
    const open = this.#phase;
    if (open) this.#phases[open.name] = (this.#phases[open.name] ?? 0) + this.#since(open.at);
    this.#phase = name === null ? null : { name, at: this.#now() };
  }

  #since(at: number): number {
    return Math.max(0, this.#now() - at) / 1000;
  }
}

/** Seconds that a run spent in steps after a point in time. */
function stepSeconds(points: Timeline['points'], after: number): number {
  const inOrder = Object.entries(points).sort(([, a], [, b]) => a - b);
  let seconds = 0;
  for (const [i, [key, at]] of inOrder.entries()) {
    const [before, beforeAt] = inOrder[i - 1] ?? ['', 0];
    if (isStepKey(key) && isStepKey(before) && beforeAt >= after) seconds += at - beforeAt;
  }
  return seconds;
}

function isStepKey(key: string): boolean {
  return key.includes('.denoise.');
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function keyOf({ phase, chunk, step }: Point): string {
  return `${chunk}.${phase}.${step}`;
}

/** Without a run to go by: the steps left at the pace of those done, and nothing for what follows. */
function leftByPace(point: Point, elapsed: number, points: Readonly<Record<string, number>>): number | null {
  const { phase, step, steps, chunk, chunks } = point;
  if (phase !== 'denoise' || step === 0) return null;
  const began = points[keyOf({ ...point, step: 0 })] ?? 0;
  const perStep = (elapsed - began) / step;
  const perChunk = chunks > 1 && chunk > 0 ? elapsed / (chunk + step / steps) : perStep * steps;
  return perStep * (steps - step) + perChunk * (chunks - 1 - chunk);
}

function fractionOf({ phase, step, steps, chunk, chunks }: Point): number {
  const within: Readonly<Record<JobPhase, number>> = {
    load: 0,
    text: 0,
    encode: edgeShare / 2,
    denoise: edgeShare + (1 - 2 * edgeShare) * (steps > 0 ? step / steps : 0),
    decode: 1 - edgeShare,
    write: 1 - edgeShare / 2,
  };
  return (chunk + within[phase]) / Math.max(1, chunks);
}
