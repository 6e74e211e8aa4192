// Reads a request's body by its content type: JSON, a urlencoded form, or a multipart form.
import formbody from '@fastify/formbody';
import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RequestError } from '../../protocol/index.js';
import { FormValues, listsOf } from './form-names.js';
import { isRecord, parseJson } from './json-text.js';
import { type FormLimits, readMultipart } from './read-multipart.js';
import { RequestBody } from './request-body.js';

/** How much of a body is taken. */
export interface BodyLimits extends FormLimits {
  /** Bytes of a JSON body; pictures may travel in it as data URLs. */
  readonly jsonBytes: number;
}

/** Text of a urlencoded form, kept apart from JSON that happens to be text. */
class UrlencodedText {
  constructor(readonly values: Readonly<Record<string, unknown>>) {}
}

/** Teaches the server the three encodings. */
export async function registerBodies(app: FastifyInstance, limits: BodyLimits): Promise<void> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    /^application\/(?:[\w.-]+\+)?json\b/,
    { parseAs: 'string', bodyLimit: limits.jsonBytes },
    (_request, text, done) => {
      try {
        done(null, parseJson(String(text), 'the body'));
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
  );
  await app.register(formbody, { bodyLimit: limits.fieldBytes, parser: (text) => ({ form: parseUrlencoded(text) }) });
  await app.register(multipart, { throwFileSizeLimit: false });
}

function parseUrlencoded(text: string): UrlencodedText {
  const form = new FormValues();
  for (const [name, value] of new URLSearchParams(text)) form.add(name, value);
  return new UrlencodedText(
    Object.fromEntries(Object.entries(form.values).map(([name, value]) => [name, listsOf(value)])),
  );
}

/**
 * The body of a request. Dispose of it when the request is answered.
 * @throws RequestError `unsupported_media_type`, `invalid_body` or `payload_too_large`
 */
export async function readBody(
  request: FastifyRequest,
  limits: BodyLimits,
  temporaryPath: () => string,
): Promise<RequestBody> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new RequestError(
      'unsupported_media_type',
      null,
      `content-encoding ${encoding} is not taken; send the body as it is`,
    );
  }
  if (request.isMultipart()) return readMultipart(request, limits, temporaryPath);
  const { body } = request;
  if (isRecord(body) && body.form instanceof UrlencodedText) return new RequestBody(body.form.values, [], true);
  if (isRecord(body)) return new RequestBody(body, [], false);
  const what = body === undefined || body === null ? 'nothing' : Array.isArray(body) ? 'a list' : `a ${typeof body}`;
  throw new RequestError('invalid_body', null, `the body must be an object of fields, got ${what}`);
}
