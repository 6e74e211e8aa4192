// What routes say about themselves: the schemas of the protocol, turned into OpenAPI by the server.
import type { FastifySchema } from 'fastify';
import type { TSchema } from 'typebox';
import { ErrorBody } from '../../protocol/index.js';

/** A route's documentation. Bodies are read by hand, so schemas check nothing here. */
export interface RouteWords {
  readonly summary: string;
  readonly tags: readonly string[];
  readonly body?: TSchema;
  readonly consumes?: readonly string[];
  readonly query?: TSchema;
  readonly headers?: TSchema;
  readonly params?: TSchema;
  /** Of a success, where it is JSON. */
  readonly reply?: TSchema;
  /** Media type of a success that is no JSON. */
  readonly bytes?: string;
  /** Statuses of errors that are to be expected. */
  readonly errors?: readonly number[];
}

/** The schema that fastify and its OpenAPI generator take. */
export function documented(words: RouteWords): FastifySchema {
  const { summary, tags, body, consumes, query, headers, params, reply, bytes, errors = [] } = words;
  const success: object =
    reply ??
    (bytes === undefined
      ? { type: 'null', description: 'Nothing.' }
      : { description: 'The content.', content: { [bytes]: { schema: { type: 'string', format: 'binary' } } } });
  const responses: Record<string, object> = { 200: { description: 'Success', ...success } };
  for (const status of errors) responses[String(status)] = { description: 'An error.', ...ErrorBody };
  return {
    summary,
    tags: [...tags],
    ...(body === undefined ? {} : { body }),
    ...(consumes === undefined ? {} : { consumes: [...consumes] }),
    ...(query === undefined ? {} : { querystring: query }),
    ...(headers === undefined ? {} : { headers }),
    ...(params === undefined ? {} : { params }),
    response: responses,
  };
}
