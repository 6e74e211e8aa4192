// What a caller says of a job beside its body: whether it is a repetition, how much it matters, until when it makes sense.
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { RequestError, showValue } from '../../protocol/index.js';

/** The headers of a job. */
export interface JobHeaders {
  readonly idempotencyKey: string | undefined;
  /** Among the caller's own jobs; higher ones first. */
  readonly priority: number;
  /** Milliseconds since 1970. */
  readonly deadlineAt: number | undefined;
}

const longestKey = 255;
const mostPriority = 9;
const longestDeadline = 30 * 24 * 3600;

/** The same for whoever reads the documentation. */
export const jobHeaders = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({
      maxLength: longestKey,
      description: 'A repeated request with the same key gives the job of the first.',
    }),
  ),
  'X-Orrery-Priority': Type.Optional(
    Type.Integer({
      minimum: -mostPriority,
      maximum: mostPriority,
      description: "Among the caller's own jobs; higher ones first, 0 where absent.",
    }),
  ),
  'X-Orrery-Deadline': Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: longestDeadline,
      description: 'Seconds from now after which a job that is not done fails.',
    }),
  ),
});

/** Reads `Idempotency-Key`, `X-Orrery-Priority` and `X-Orrery-Deadline`. @throws RequestError naming the header */
export function readJobHeaders(request: FastifyRequest): JobHeaders {
  const seconds = readNumber(request, 'X-Orrery-Deadline', { from: 1, to: longestDeadline });
  return {
    idempotencyKey: readIdempotencyKey(request),
    priority: readNumber(request, 'X-Orrery-Priority', { from: -mostPriority, to: mostPriority }) ?? 0,
    deadlineAt: seconds === undefined ? undefined : Date.now() + seconds * 1000,
  };
}

function readIdempotencyKey(request: FastifyRequest): string | undefined {
  const key = readHeader(request, 'idempotency-key') ?? readHeader(request, 'x-idempotency-key');
  if (key === undefined || key.length <= longestKey) return key;
  throw new RequestError(
    'invalid_value',
    'Idempotency-Key',
    `Idempotency-Key must have at most ${longestKey} characters, got ${key.length}`,
  );
}

function readNumber(
  request: FastifyRequest,
  name: string,
  { from, to }: { readonly from: number; readonly to: number },
): number | undefined {
  const text = readHeader(request, name.toLowerCase());
  if (text === undefined) return undefined;
  const value = /^-?\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= from && value <= to) return value;
  throw new RequestError(
    'invalid_value',
    name,
    `${name} must be a whole number from ${from} to ${to}, got ${showValue(text)}`,
  );
}

function readHeader({ headers }: FastifyRequest, name: string): string | undefined {
  const given = headers[name];
  const text = (Array.isArray(given) ? given[0] : given)?.trim();
  return text === '' ? undefined : text;
}
