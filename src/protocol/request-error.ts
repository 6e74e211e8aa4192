// Errors that are the caller's fault, and the table that gives every coded error its HTTP status.

/** HTTP status of each error code. A code says what kind of mistake it was; the message says which one and what to do. */
export const errorStatus = {
  /** A field has a value outside its range, or of the wrong form. */
  invalid_value: 400,
  /** Two things that were asked for exclude each other. */
  conflict: 400,
  /** A field or input that the task needs is absent. */
  missing_parameter: 400,
  unknown_parameter: 400,
  /** The body is no JSON, form or multipart that can be read. */
  invalid_body: 400,
  /** A picture, clip or control map cannot be read or is empty. */
  invalid_media: 400,
  /** The loaded checkpoint cannot do what was asked for. */
  unsupported: 400,
  /** The guardrails refused the prompt. */
  prompt_blocked: 400,
  unauthorized: 401,
  not_found: 404,
  method_not_allowed: 405,
  /** The request did not arrive in time. */
  request_timeout: 408,
  /** A job is not in the state that the call needs: not finished yet, or still being cancelled. */
  job_busy: 409,
  /** An idempotency key came again with another request. */
  idempotency_conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  /** The bytes asked for lie beyond the content. */
  range_not_satisfiable: 416,
  /** The job whose result was asked for has failed. */
  job_failed: 422,
  too_many_requests: 429,
  headers_too_large: 431,
  internal_error: 500,
  not_implemented: 501,
  /** No engine is loaded, or it is shutting down. */
  unavailable: 503,
  timeout: 504,
} as const;

export type ErrorCode = keyof typeof errorStatus;

/**
 * A request that cannot be served as it stands; thrown by the door and by `plan` alone. The message names the value, the
 * limit and the remedy.
 */
export class RequestError extends Error {
  override readonly name = 'RequestError';

  /** @param param Wire name of the field at fault (`num_frames`); null where no single field is. */
  constructor(
    readonly code: ErrorCode,
    readonly param: string | null,
    message: string,
  ) {
    super(message);
  }
}
