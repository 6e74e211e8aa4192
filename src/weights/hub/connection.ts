// Requests to the hub: authorised, repeated while that can help, and failing with a reason that a person can act on.
import { setTimeout as sleep } from 'node:timers/promises';
import { describeCause, HubError } from './hub-error.js';

/** Where the hub is and how patiently it is asked. */
export interface Connection {
  /** Base address without a trailing slash. */
  readonly endpoint: string;
  readonly token: string | undefined;
  readonly repo: string;
  readonly signal: AbortSignal | undefined;
  /** Tries without progress before giving up. */
  readonly attempts: number;
  /** Pause before the second try, in ms; it doubles from then on, up to 30 s. */
  readonly retryDelay: number;
  /** Silence, in ms, after which a transfer counts as broken. */
  readonly stallTimeout: number;
}

/** Whether the same request may succeed later. */
export function isRetryable(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/** Waits before try `failures + 1`: as the hub asked to, or twice as long each time. */
export async function pause(connection: Connection, failures: number, response?: Response): Promise<void> {
  const asked = Number(response?.headers.get('retry-after') ?? Number.NaN) * 1000;
  const usual = connection.retryDelay * 2 ** (failures - 1) * (0.75 + Math.random() / 2);
  const options = connection.signal === undefined ? {} : { signal: connection.signal };
  await sleep(Math.min(Number.isFinite(asked) ? Math.max(asked, usual) : usual, 30_000), undefined, options);
}

/** The headers of every request. */
export function authorise(connection: Connection, headers?: ConstructorParameters<typeof Headers>[0]): Headers {
  const all = new Headers(headers);
  all.delete('authorization');
  if (connection.token !== undefined) all.set('authorization', `Bearer ${connection.token}`);
  return all;
}

/** The error that a refused request means. `what` is the repository or `repository/file`. */
export function describeRefusal(connection: Connection, what: string, response: Response): HubError {
  const { repo, endpoint, token } = connection;
  const { status } = response;
  const code = response.headers.get('x-error-code');
  const page = `${endpoint}/${repo}`;
  if (status === 403 || code === 'GatedRepo') {
    const then =
      token === undefined ? 'then set HF_TOKEN to a token of that account' : 'the token given has no access yet';
    return new HubError('gated', `${what} is gated (${status}): accept its licence at ${page}, ${then}`);
  }
  if (status === 401) {
    const remedy =
      token === undefined ? 'set HF_TOKEN if it is private or gated' : 'the token given was refused: check HF_TOKEN';
    return new HubError(
      'unauthorized',
      `${what} needs a login or does not exist (401): check the name; ${remedy}; see ${page}`,
    );
  }
  if (status === 404) {
    return new HubError('not-found', `${what} does not exist at ${endpoint} (404): check the name and the revision`);
  }
  const remedy = status === 429 ? 'the hub is limiting requests: wait, or set HF_TOKEN' : 'try again later';
  return new HubError('server', `${what}: the hub answered ${status}; ${remedy}`);
}

/** The error that no answer at all means. */
export function describeSilence(connection: Connection, what: string, cause: unknown): HubError {
  const reason = describeCause(cause);
  const remedy = 'check the network, or use a local folder; downloads go on where they stopped';
  return new HubError('network', `${what}: no connection to ${connection.endpoint} (${reason}); ${remedy}`, { cause });
}

/** A `fetch` that repeats failed requests and returns only successful ones. @throws HubError · the signal's reason when aborted. */
export function persistentFetch(connection: Connection, what: string): typeof fetch {
  return async (input, init) => {
    for (let failures = 1; ; failures++) {
      let response: Response | undefined;
      try {
        const signal = AbortSignal.any([
          AbortSignal.timeout(connection.stallTimeout),
          ...(connection.signal === undefined ? [] : [connection.signal]),
        ]);
        response = await fetch(input, { ...init, headers: authorise(connection, init?.headers), signal });
        if (response.ok) return response;
        await response.body?.cancel();
        if (!isRetryable(response.status) || failures >= connection.attempts) {
          throw describeRefusal(connection, what, response);
        }
      } catch (error) {
        connection.signal?.throwIfAborted();
        if (error instanceof HubError) throw error;
        if (failures >= connection.attempts) throw describeSilence(connection, what, error);
      }
      await pause(connection, failures, response);
    }
  };
}
