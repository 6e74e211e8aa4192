// The one stream of events for all tabs of this browser: one tab reads it and passes on what it hears, the others listen.
import { type JobEventMessage, type OrreryClient, OrreryClientError } from '../../../src/protocol/index.js';
import type { Connection } from './types.js';

/** What goes between the tabs. */
type Passed =
  | { readonly kind: 'event'; readonly message: JobEventMessage }
  | { readonly kind: 'connection'; readonly connection: Connection; readonly isFresh: boolean }
  | { readonly kind: 'hello' };

export interface LiveOptions {
  readonly client: OrreryClient;
  /** Tabs of the same scope share the stream: the same server, the same key. */
  readonly scope: string;
  readonly onMessage: (message: JobEventMessage) => void;
  /** @param isFresh the line was just opened: what happened before is to be looked up */
  readonly onConnection: (connection: Connection, isFresh: boolean) => void;
}

/** Follows the events. Returns how to stop. */
export function followJobs({ client, scope, onMessage, onConnection }: LiveOptions): () => void {
  const stop = new AbortController();
  const channel = new BroadcastChannel(`orrery ${scope}`);
  let leads = false;
  let connection: Connection = 'connecting';
  const tell = (passed: Passed) => channel.postMessage(passed);
  const change = (next: Connection, isFresh: boolean) => {
    connection = next;
    onConnection(next, isFresh);
    if (leads) tell({ kind: 'connection', connection: next, isFresh });
  };
  channel.onmessage = ({ data }: MessageEvent<Passed>) => {
    if (data.kind === 'hello') {
      if (leads) tell({ kind: 'connection', connection, isFresh: false });
    } else if (leads) return;
    else if (data.kind === 'event') onMessage(data.message);
    else change(data.connection, data.isFresh);
  };
  const lead = async () => {
    if (stop.signal.aborted) return;
    leads = true;
    await readStream(client, stop.signal, {
      onMessage: (message) => {
        onMessage(message);
        tell({ kind: 'event', message });
      },
      onChange: change,
    });
  };
  tell({ kind: 'hello' });
  // Locks exist on secure pages alone; without them each tab reads a stream of its own.
  const locks: LockManager | undefined = navigator.locks;
  const led = locks ? locks.request(`orrery events ${scope}`, { signal: stop.signal }, lead) : lead();
  led.catch(() => undefined);
  return () => {
    stop.abort();
    channel.close();
  };
}

interface Heard {
  readonly onMessage: (message: JobEventMessage) => void;
  readonly onChange: (connection: Connection, isFresh: boolean) => void;
}

/** Reads until it is stopped or the server asks for a key. The client connects again by itself; waking up hastens it. */
async function readStream(client: OrreryClient, stop: AbortSignal, { onMessage, onChange }: Heard): Promise<void> {
  while (!stop.aborted) {
    const attempt = new AbortController();
    let isLost = false;
    const hasten = () => {
      if (isLost && document.visibilityState === 'visible') attempt.abort();
    };
    const leave = () => {
      isLost = true;
      onChange('lost', false);
    };
    const quit = () => attempt.abort();
    stop.addEventListener('abort', quit, { once: true });
    addEventListener('online', hasten);
    addEventListener('offline', leave);
    document.addEventListener('visibilitychange', hasten);
    try {
      const onOpen = () => {
        isLost = false;
        onChange('live', true);
      };
      for await (const message of client.events(undefined, { signal: attempt.signal, onOpen, onLost: leave }))
        onMessage(message);
    } catch (error) {
      const isLocked = error instanceof OrreryClientError && (error.status === 401 || error.status === 403);
      onChange(isLocked ? 'locked' : 'lost', false);
      if (isLocked) return;
      await new Promise((resolve) => setTimeout(resolve, 5000));
    } finally {
      stop.removeEventListener('abort', quit);
      removeEventListener('online', hasten);
      removeEventListener('offline', leave);
      document.removeEventListener('visibilitychange', hasten);
    }
  }
}
