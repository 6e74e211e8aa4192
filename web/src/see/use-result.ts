// A job with everything that lists leave out, asked for once and again when its addresses grow old.
import { useEffect, useState } from 'preact/hooks';
import type { Job } from '../../../src/protocol/index.js';
import { useStore } from '../store/store-context.js';

/** A job on its way. */
export interface Result {
  readonly job: Job | null;
  readonly error: unknown;
  /** Asks again, for addresses that are still good. Does nothing for a while after it has asked. */
  readonly refresh: () => void;
}

/** Signed addresses hold for an hour. */
const freshMs = 50 * 60_000;
const pauseMs = 15_000;

/** The job of that id. */
export function useResult(jobId: string): Result {
  const store = useStore();
  const [state, setState] = useState<{ id: string; job: Job | null; error: unknown; at: number; round: number }>({
    id: '',
    job: null,
    error: null,
    at: 0,
    round: 0,
  });
  const isCurrent = state.id === jobId;
  const round = isCurrent ? state.round : 0;
  // A new round asks anew.
  useEffect(() => {
    let isOver = false;
    const settle = (job: Job | null, error: unknown) => {
      if (isOver) return;
      setState((before) => ({
        id: jobId,
        job: job ?? (before.id === jobId ? before.job : null),
        error,
        at: Date.now(),
        round,
      }));
    };
    store.load(jobId).then(
      ({ record }) => settle(record, null),
      (error: unknown) => settle(null, error),
    );
    return () => {
      isOver = true;
    };
  }, [store, jobId, round]);
  const refresh = () =>
    setState((before) => {
      const isRecent = before.id !== jobId || Date.now() - before.at < pauseMs;
      return isRecent ? before : { ...before, at: Date.now(), round: before.round + 1 };
    });
  useEffect(() => {
    const timer = setInterval(refresh, freshMs);
    return () => clearInterval(timer);
  }, [jobId]);
  return { job: isCurrent ? state.job : null, error: isCurrent ? state.error : null, refresh };
}

/** The Plan of a job; null until it is there, and where there is none. */
export function usePlan(jobId: string, isWanted: boolean): Readonly<Record<string, unknown>> | null {
  const { client } = useStore();
  const [plan, setPlan] = useState<{ id: string; plan: Readonly<Record<string, unknown>> } | null>(null);
  useEffect(() => {
    if (!isWanted) return;
    let isOver = false;
    client.jobPlan(jobId).then(
      (found) => {
        if (!isOver) setPlan({ id: jobId, plan: found });
      },
      // Jobs of an older server have none; the panel says so.
      () => undefined,
    );
    return () => {
      isOver = true;
    };
  }, [client, jobId, isWanted]);
  return plan?.id === jobId ? plan.plan : null;
}
