// Files that are sent once and named in requests afterwards.
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { MediaError } from '../../media/index.js';
import { RequestError, Upload } from '../../protocol/index.js';
import { fileIdOf } from '../inputs/wanted-input.js';
import { unixSeconds } from '../jobs/video-view.js';
import { documented } from '../routes/documented.js';
import { receiveBody } from '../routes/request-body.js';
import type { ServerContext } from '../server-context.js';

/** Adds the route. */
export function addUploadRoute(app: FastifyInstance, context: ServerContext): void {
  const schema = documented({
    summary: 'Takes a picture or clip that requests then name by its file_id',
    tags: ['Jobs'],
    body: Type.Object({ file: Type.String({ format: 'binary', description: 'A picture or clip.' }) }),
    consumes: ['multipart/form-data'],
    reply: Upload,
    errors: [400, 401, 413, 415, 503],
  });
  app.post('/v1/uploads', { schema }, async (request): Promise<Upload> => {
    await using body = await receiveBody(request, context);
    const [file, second] = body.files;
    if (file === undefined || second !== undefined || file.field !== 'file') {
      throw new RequestError('missing_parameter', 'file', 'Send one file, as the part "file" of a multipart form.');
    }
    try {
      const { kind, mediaType, width, height, frames, fps } = await context.inspector.inspect(file.path);
      const { sha256, bytes, expiresAt } = await context.uploads.keep(file.path, mediaType);
      return {
        object: 'upload',
        file_id: fileIdOf(sha256),
        kind,
        media_type: mediaType,
        bytes,
        width,
        height,
        frames,
        fps,
        expires_at: unixSeconds(expiresAt),
      };
    } catch (error) {
      if (!(error instanceof MediaError) || error.code === 'disk_full') throw error;
      throw new RequestError('invalid_media', 'file', `Invalid file: ${error.message}`);
    }
  });
}
