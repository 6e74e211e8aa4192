// What a client throws where the server refuses.

/** A reply that was no success. */
export class OrreryClientError extends Error {
  override readonly name = 'OrreryClientError';

  /** @param reason coded error of the server, as invalid_value; empty where the reply had none */
  constructor(
    readonly status: number,
    readonly reason: string,
    readonly param: string | null,
    message: string,
  ) {
    super(message);
  }
}

/** The error that a failed reply's text states. */
export function failureOf(status: number, text: string): OrreryClientError {
  const body: { error?: { message?: string; reason?: string; param?: string | null } | string } | undefined =
    parseJson(text);
  const error = typeof body?.error === 'string' ? { message: body.error } : (body?.error ?? {});
  const { message = text.slice(0, 200), reason = status === 401 ? 'unauthorized' : '', param = null } = error;
  return new OrreryClientError(status, reason, param, message || `the server answered ${status}`);
}

/** The value that a text spells; undefined where it is no JSON. */
export function parseJson<Body>(text: string): Body | undefined {
  try {
    const body: Body = JSON.parse(text);
    return body;
  } catch {
    return undefined;
  }
}
