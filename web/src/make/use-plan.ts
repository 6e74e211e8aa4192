// The plan of what stands on the form, asked for while it is typed: late enough not to ask for every letter.
import { type ReadonlySignal, useComputed } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { OrreryClientError, type PlanReply } from '../../../src/protocol/index.js';
import { isOver } from '../store/job-states.js';
import { useStore } from '../store/store-context.js';
import { describeError } from '../store/toasts.js';
import type { ReadDraft } from './to-form.js';

/** What the server objects to. */
export interface Problem {
  /** Wire name of the field at fault. */
  readonly param: string | null;
  readonly reason: string;
  readonly message: string;
}

/** What is known of the cost. */
export interface LivePlan {
  /** The last plan that could be made; it stays while the next one is asked for. */
  readonly plan: PlanReply | null;
  readonly problem: Problem | null;
  readonly isAsking: boolean;
}

const pauseMs = 250;
const idle: LivePlan = { plan: null, problem: null, isAsking: false };

/**
 * Follows the form.
 * @param isReady there is something to plan: words, and inputs that have arrived
 */
export function usePlan(read: ReadonlySignal<ReadDraft | null>, isReady: boolean): LivePlan {
  const { client, connection, jobs } = useStore();
  // Estimates get better with each job that ends.
  const ended = useComputed(() => [...jobs.value.values()].filter(({ record }) => isOver(record)).length);
  const [live, setLive] = useState(idle);
  const draft = read.value;
  const text = draft && isReady && Object.keys(draft.errors).length === 0 ? JSON.stringify(draft.form) : null;
  const isLive = connection.value === 'live';
  useEffect(() => {
    if (text === null || !isLive) {
      setLive((before) => ({ ...before, problem: null, isAsking: false }));
      return;
    }
    const stop = new AbortController();
    setLive((before) => ({ ...before, isAsking: true }));
    const timer = setTimeout(() => {
      client.plan(JSON.parse(text), stop.signal).then(
        (plan) => setLive({ plan, problem: null, isAsking: false }),
        (error: unknown) => {
          if (!stop.signal.aborted) setLive({ plan: null, problem: problemOf(error), isAsking: false });
        },
      );
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, isLive, client, ended.value]);
  return live;
}

/** What an error says of the request. */
export function problemOf(error: unknown): Problem {
  if (error instanceof OrreryClientError) return { param: error.param, reason: error.reason, message: error.message };
  return { param: null, reason: '', message: describeError(error) };
}
