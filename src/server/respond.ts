// The one place where an error becomes a status and a body.
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  ArtifactMissingError,
  IdempotencyConflictError,
  QueueFullError,
  UnknownUploadError,
} from '../engine/jobs/errors.js';
import type { JobError } from '../engine/jobs/types.js';
import { MediaError } from '../media/index.js';
import { type ErrorBody, type ErrorCode, errorStatus, RequestError } from '../protocol/index.js';

import { CallerGoneError } from './jobs/await-job.js';

/** An error as it is answered. */
export interface Failure {
  readonly status: number;
  readonly reason: ErrorCode;
  readonly param: string | null;
  readonly message: string;
  /** Seconds after which another try makes sense. */
  readonly retryAfter?: number;
}

const phrases: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  413: 'Payload Too Large',
  415: 'Unsupported Media Type',
  416: 'Range Not Satisfiable',
  422: 'Unprocessable Entity',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

/** What an error means to the client that caused it, or that it hit. */
export function describeError(error: unknown): Failure {
  if (error instanceof RequestError) return fail(error.code, error.param, error.message);
  if (error instanceof QueueFullError) {
    return { ...fail('too_many_requests', null, error.message), retryAfter: error.retryAfterSeconds };
  }
  if (error instanceof IdempotencyConflictError) return fail('idempotency_conflict', null, error.message);
  if (error instanceof UnknownUploadError) return fail('invalid_media', null, error.message);
  if (error instanceof ArtifactMissingError) return fail('not_found', null, 'Generated video file not found on disk');
  if (error instanceof CallerGoneError) return fail('invalid_body', null, error.message);
  if (error instanceof MediaError) return describeMedia(error);
  return describeFramework(error) ?? fail('internal_error', null, 'Internal server error; the log has the request id.');
}

/** The failure that a job's record states. */
export function describeJobError({ code, param, message }: JobError): Failure {
  return fail(isCode(code) ? code : 'internal_error', param, message);
}

function fail(reason: ErrorCode, param: string | null, message: string): Failure {
  return { status: errorStatus[reason], reason, param, message };
}

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorStatus, code);
}

const machineFaults: ReadonlySet<string> = new Set([
  'ffmpeg_missing',
  'ffmpeg_failed',
  'unwritable',
  'disk_full',
  'aborted',
]);

function describeMedia(error: MediaError): Failure {
  if (!machineFaults.has(error.code)) return fail('invalid_media', null, error.message);
  if (error.code === 'disk_full') return fail('unavailable', null, 'The server has no room for the upload; try later.');
  if (error.code === 'ffmpeg_missing')
    return fail('unavailable', null, 'This server has no ffmpeg; clips are not possible.');
  return fail('internal_error', null, 'Internal server error; the log has the request id.');
}

/** Errors of the HTTP library: they carry a status of their own. */
function describeFramework(error: unknown): Failure | null {
  if (!(error instanceof Error)) return null;
  const code = 'code' in error ? String(error.code) : '';
  if (['ENOSPC', 'EDQUOT', 'EMFILE', 'SQLITE_FULL'].includes(code)) {
    return fail('unavailable', null, 'The server has no room for this request; try later.');
  }
  if (code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET' || code === 'ECONNABORTED') {
    return fail('invalid_body', null, 'The connection ended before the request was complete.');
  }
  const status = 'statusCode' in error ? error.statusCode : undefined;
  switch (status) {
    case 408:
      return fail('request_timeout', null, 'The request did not arrive in time.');
    case 413:
      return fail('payload_too_large', null, 'The body is too large; send files as parts of a multipart form.');
    case 415:
      return fail(
        'unsupported_media_type',
        null,
        'Send application/json, multipart/form-data or application/x-www-form-urlencoded.',
      );
    default:
      return typeof status === 'number' && status >= 400 && status < 500
        ? fail('invalid_body', null, error.message)
        : null;
  }
}

/** The body of an error reply. */
export function errorBody({ status, reason, param, message }: Failure, requestId: string | null): ErrorBody {
  const error = { message, type: phrases[status] ?? 'Error', param, code: status, reason, request_id: requestId };
  return { error, detail: message };
}

/** Answers with an error. */
export function sendError(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  return sendFailure(request, reply, describeError(error), error);
}

/** Bytes of a refused body that are read and thrown away, so that its sender gets to see the answer. */
const discarded = 64 * 2 ** 20;

function discardRest({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (Number(raw.headers['content-length'] ?? 0) > discarded) reply.header('connection', 'close');
  let left = discarded;
  raw.on('data', (piece: Buffer) => {
    left -= piece.length;
    if (left < 0) raw.destroy();
  });
  raw.resume();
}

/** Answers with a failure that is described already. */
export function sendFailure(
  request: FastifyRequest,
  reply: FastifyReply,
  failure: Failure,
  cause: unknown = null,
): FastifyReply {
  if (failure.status >= 500) request.log.error({ err: cause, reason: failure.reason }, failure.message);
  else request.log.info({ reason: failure.reason, param: failure.param, status: failure.status }, 'request refused');
  if (failure.retryAfter !== undefined) reply.header('retry-after', failure.retryAfter);
  if (failure.status === 413) discardRest(request, reply);
  // The original interface answers a missing key with a word instead of an object.
  const body =
    failure.reason === 'unauthorized'
      ? { error: 'Unauthorized', detail: failure.message }
      : errorBody(failure, request.id);
  return reply.code(failure.status).type('application/json; charset=utf-8').send(body);
}
