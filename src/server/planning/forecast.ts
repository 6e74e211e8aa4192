// How long a plan will take: as long as the last run of its shape, or as another run by the ratio of their operations.
import type { Plan } from '../../engine/index.js';
import type { JobQueue, JobRecord } from '../../engine/jobs/types.js';
import type { PlannedRequest } from '../../engine/planner/planner.js';

type Estimate = PlannedRequest['estimate'];

/** Seconds, and what they rest on. */
export interface ForecastSeconds {
  readonly seconds: number;
  readonly basis: 'measured' | 'scaled';
}

/** Foretells how long plans take. */
export interface Forecast {
  /** Null while nothing has run. */
  seconds(plan: Plan, estimate: Estimate): Promise<ForecastSeconds | null>;
}

/** What a forecast rests on. */
export interface ForecastSources {
  readonly queue: Pick<JobQueue, 'list' | 'plan'>;
  /** Seconds of the last run of a plan's shape; null where there was none. */
  readonly measured: (plan: Plan) => number | null;
  readonly estimate: (plan: Plan) => Estimate;
}

/** Opens a forecast. */
export function openForecast({ queue, measured, estimate }: ForecastSources): Forecast {
  const rates = new Map<string, number | null>();

  /** Operations a second of a job; null where its plan is gone. */
  const rateOf = async ({ id, timings }: JobRecord): Promise<number | null> => {
    const known = rates.get(id);
    if (known !== undefined) return known;
    const plan = await queue.plan(id);
    const rate = plan === null || timings === null ? null : estimate(plan).flops.total / Math.max(1e-3, timings.total);
    rates.clear();
    rates.set(id, rate);
    return rate;
  };

  return {
    async seconds(plan, { flops }) {
      const seconds = measured(plan);
      if (seconds !== null) return { seconds, basis: 'measured' };
      // The same task has about the same share of everything that is not the network.
      const latest = async (tasks?: readonly string[]) =>
        (await queue.list({ statuses: ['completed'], limit: 1, ...(tasks === undefined ? {} : { tasks }) })).jobs[0];
      const job = (await latest([plan.task])) ?? (await latest());
      const rate = job === undefined ? null : await rateOf(job);
      return rate === null || rate <= 0 ? null : { seconds: flops.total / rate, basis: 'scaled' };
    },
  };
}
