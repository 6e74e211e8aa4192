// What can go wrong between here and the model hub.

/** Kinds of failures, for callers that act on them. */
export type HubFailure =
  | 'gated'
  | 'unauthorized'
  | 'not-found'
  | 'network'
  | 'offline'
  | 'server'
  | 'checksum'
  | 'disk-full'
  | 'invalid';

/** A download that failed. The message names the repository or file, the reason and the remedy. */
export class HubError extends Error {
  override readonly name = 'HubError';
  constructor(
    readonly failure: HubFailure,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The deepest reason of a failed fetch: `connect ECONNREFUSED 127.0.0.1:1`. */
export function describeCause(error: unknown): string {
  let reason: unknown = error;
  while (reason instanceof Error && reason.cause instanceof Error) reason = reason.cause;
  if (!(reason instanceof Error)) return String(reason);
  const code = 'code' in reason && typeof reason.code === 'string' ? reason.code : '';
  return reason.message || code || reason.name;
}
