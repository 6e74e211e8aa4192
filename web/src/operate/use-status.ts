// The server's status, asked for again and again while the page is looked at.
import { useEffect, useState } from 'preact/hooks';
import type { ServerStatus } from '../../../src/protocol/index.js';
import { useStore } from '../store/store-context.js';
import { sampleOf } from './figures.js';
import { addSample, type History } from './history.js';

/** What is known of the server. */
export interface WatchedStatus {
  readonly status: ServerStatus | null;
  /** Why the last look failed; null after one that did not. */
  readonly error: unknown;
  readonly history: History;
}

const pollMs = 2000;

/** The status, a look every two seconds while the page is visible. */
export function useStatus(): WatchedStatus {
  const { client } = useStore();
  const [watched, setWatched] = useState<WatchedStatus>({ status: null, error: null, history: {} });
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isAsking = false;
    const look = async () => {
      clearTimeout(timer);
      if (isAsking || abort.signal.aborted || document.visibilityState === 'hidden') return;
      isAsking = true;
      try {
        const status = await client.status(abort.signal);
        setWatched((before) => ({
          status,
          error: null,
          history: addSample(before.history, sampleOf(status, before.error === null ? before.status : null)),
        }));
      } catch (error) {
        if (!abort.signal.aborted)
          setWatched((before) => ({ ...before, error, history: addSample(before.history, {}) }));
      }
      isAsking = false;
      if (!abort.signal.aborted) timer = setTimeout(() => void look(), pollMs);
    };
    const lookAgain = () => void look();
    document.addEventListener('visibilitychange', lookAgain);
    void look();
    return () => {
      abort.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', lookAgain);
    };
  }, [client]);
  return watched;
}
