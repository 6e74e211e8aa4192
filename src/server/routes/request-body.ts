// How routes read their bodies: by the server's limits, onto the upload store's disk.
import type { FastifyRequest } from 'fastify';
import { type BodyLimits, readBody } from '../bodies/read-body.js';
import type { RequestBody } from '../bodies/request-body.js';
import type { InputSettings } from '../options/settings.js';
import type { ServerContext } from '../server-context.js';

/** How much of a body is taken. */
export function bodyLimits({ maxUploadBytes, maxJsonBytes }: InputSettings): BodyLimits {
  return { jsonBytes: maxJsonBytes, fieldBytes: maxJsonBytes, fileBytes: maxUploadBytes, fields: 200, files: 16 };
}

/** The body of a request; dispose of it when the request is answered. @throws RequestError */
export function receiveBody(request: FastifyRequest, { settings, uploads }: ServerContext): Promise<RequestBody> {
  return readBody(request, bodyLimits(settings.inputs), () => uploads.temporaryPath());
}
