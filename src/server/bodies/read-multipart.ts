// Multipart forms: text into memory, files to the disk as they come, each within its limit.
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FastifyRequest } from 'fastify';
import { RequestError } from '../../protocol/index.js';
import { FormValues, listsOf } from './form-names.js';
import { type ReceivedFile, RequestBody } from './request-body.js';

/** How much of a form is taken. */
export interface FormLimits {
  /** Bytes of one text field. */
  readonly fieldBytes: number;
  /** Bytes of one file. */
  readonly fileBytes: number;
  readonly fields: number;
  readonly files: number;
}

/**
 * Reads a multipart form.
 * @param temporaryPath names a file on the disk that uploads go to
 * @throws RequestError `payload_too_large` or `invalid_body`; what was written before is removed
 */
export async function readMultipart(
  request: FastifyRequest,
  limits: FormLimits,
  temporaryPath: () => string,
): Promise<RequestBody> {
  const form = new FormValues();
  const files: ReceivedFile[] = [];
  try {
    const parts = request.parts({
      limits: {
        fieldSize: limits.fieldBytes,
        fileSize: limits.fileBytes,
        fields: limits.fields,
        files: limits.files,
        parts: limits.fields + limits.files,
        fieldNameSize: 200,
        headerPairs: 100,
      },
    });
    for await (const part of parts) {
      if (part.type === 'file') {
        const path = temporaryPath();
        files.push({
          field: part.fieldname,
          path,
          fileName: part.filename ?? '',
          declaredType: part.mimetype,
          bytes: await receive(part.file, path, part.fieldname, limits.fileBytes),
        });
        continue;
      }
      if (part.fieldnameTruncated)
        throw new RequestError('invalid_body', null, 'a form field has a name of over 200 bytes');
      if (part.valueTruncated) throw tooLarge(part.fieldname, limits.fieldBytes);
      form.add(part.fieldname, typeof part.value === 'string' ? part.value : String(part.value));
    }
  } catch (error) {
    await Promise.all(files.map(({ path }) => rm(path, { force: true })));
    throw error instanceof RequestError ? error : describeFailure(error, limits);
  }
  const values = Object.fromEntries(Object.entries(form.values).map(([name, value]) => [name, listsOf(value)]));
  return new RequestBody(values, files, true);
}

async function receive(stream: Readable, path: string, field: string, limit: number): Promise<number> {
  const file = createWriteStream(path, { flags: 'wx' });
  // What comes after the limit is not waited for.
  const full = new AbortController();
  stream.once('limit', () => full.abort());
  try {
    await pipeline(stream, file, { signal: full.signal });
    return file.bytesWritten;
  } catch (error) {
    await rm(path, { force: true });
    throw full.signal.aborted ? tooLarge(field, limit) : error;
  }
}

function tooLarge(field: string, limit: number): RequestError {
  const size = limit >= 2 ** 20 ? `${Math.floor(limit / 2 ** 20)} MiB` : `${limit} bytes`;
  return new RequestError('payload_too_large', field, `${field} exceeds the ${size} size limit.`);
}

/** What the parser of forms throws, in words of ours. A full disk is no fault of the caller. */
function describeFailure(error: unknown, limits: FormLimits): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const message = error instanceof Error ? error.message : String(error);
  switch (code) {
    case 'FST_FIELDS_LIMIT':
      return new RequestError('payload_too_large', null, `the form has more than ${limits.fields} fields`);
    case 'FST_FILES_LIMIT':
      return new RequestError('payload_too_large', null, `the form has more than ${limits.files} files`);
    case 'FST_PARTS_LIMIT':
      return new RequestError(
        'payload_too_large',
        null,
        `the form has more than ${limits.fields + limits.files} parts`,
      );
    case 'FST_PROTO_VIOLATION':
      return new RequestError('invalid_body', null, 'a form field has a name that is not taken');
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EACCES':
    case 'EROFS':
    case 'EMFILE':
      return error;
    default:
      return new RequestError('invalid_body', null, `the multipart form cannot be read: ${message}`);
  }
}
