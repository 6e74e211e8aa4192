// Content of finished jobs: whole or in part, as what was made.
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { ArtifactRecord, ByteRange, JobRecord } from '../../engine/jobs/types.js';
import { artifactVariants, RequestError, showValue } from '../../protocol/index.js';
import { viewAction } from '../jobs/video-view.js';
import { sendFailure } from '../respond.js';
import type { ServerContext } from '../server-context.js';
import { isSignedContent } from './content-url.js';
import { documented } from './documented.js';
import { findVideo } from './videos.js';

const extensions: Readonly<Record<string, string>> = {
  'video/mp4': 'mp4',
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'audio/wav': 'wav',
  'application/json': 'json',
  'application/octet-stream': 'safetensors',
};

/** Which file of a job. */
export const contentQuery = Type.Object({
  variant: Type.Optional(
    Type.Enum([...artifactVariants], {
      description: 'Which of its files; the clip or picture where absent.',
    }),
  ),
  token: Type.Optional(Type.String({ description: 'Stands for a key, as in the addresses that jobs list.' })),
});

export type ContentRoute = { Params: { id: string }; Querystring: Readonly<Record<string, unknown>> };

/** Adds the route. */
export function addContentRoute(app: FastifyInstance, context: ServerContext): void {
  const schema = documented({
    summary: 'The result of a job, or a part of its bytes (Range)',
    tags: ['Videos'],
    params: Type.Object({ id: Type.String({ description: 'Id of the job.' }) }),
    query: contentQuery,
    bytes: 'video/mp4',
    errors: [400, 404, 416, 422],
  });
  app.get<ContentRoute>('/v1/videos/:id/content', { schema, exposeHeadRoute: true }, async (request, reply) => {
    const record = await findVideo(context, request, isSignedContent(request, context.tokens));
    return sendContent(context, record, request, reply);
  });
}

/** Answers with a file of a finished job, or a range of its bytes. @throws RequestError */
export async function sendContent(
  context: ServerContext,
  record: JobRecord,
  request: FastifyRequest<ContentRoute>,
  reply: FastifyReply,
) {
  const artifact = findArtifact(record, request.query.variant);
  const isAction = artifact.variant === 'action';
  if (isAction && viewAction(record) !== null) {
    return reply.header('content-disposition', `attachment; filename="${record.id}.json"`).send(viewAction(record));
  }
  const size = await context.artifacts.size(artifact.file);
  if (size === null) throw new RequestError('not_found', null, 'Generated video file not found on disk');
  const { variant, mediaType } = artifact;
  const isMain = variant === 'video' || variant === 'image';
  const name = `${record.id}${isMain ? '' : `_${variant}`}.${extensions[mediaType] ?? 'bin'}`;
  const read = (range?: ByteRange) => context.artifacts.read(artifact.file, range);
  return sendBytes({ size, etag: `"${artifact.sha256}"`, name, mediaType, read }, request, reply);
}

/** Bytes that can be read from any place. */
export interface Bytes {
  readonly size: number;
  readonly etag: string;
  /** For whoever saves it. */
  readonly name: string;
  readonly mediaType: string;
  readonly read: (range?: ByteRange) => Promise<Readable>;
}

/** Answers with bytes, or the range of them that was asked for. */
export async function sendBytes(
  { size, etag, name, mediaType, read }: Bytes,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  reply
    .header('accept-ranges', 'bytes')
    .header('etag', etag)
    .header('cache-control', 'private, max-age=3600')
    .header('content-disposition', `attachment; filename="${name}"`)
    .header('content-security-policy', "default-src 'none'; sandbox")
    .type(mediaType);
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send();
  const ifRange = request.headers['if-range'];
  // A range is one of the bytes of a GET.
  const isRanged = request.method === 'GET' && (ifRange === undefined || ifRange === etag);
  const range = isRanged ? readRange(request.headers.range, size) : null;
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${size}`);
    const message = `The range ${showValue(request.headers.range)} lies outside of ${size} bytes.`;
    return sendFailure(request, reply, { status: 416, reason: 'range_not_satisfiable', param: 'Range', message });
  }
  if (range === null) reply.header('content-length', size);
  else {
    reply
      .code(206)
      .header('content-range', `bytes ${range.start}-${range.end}/${size}`)
      .header('content-length', range.end - range.start + 1);
  }
  // An empty stream keeps the length in the header.
  if (request.method === 'HEAD') return reply.send(Readable.from([]));
  return reply.send(await read(range ?? undefined));
}

/** Whether the caller has the bytes already: any of its tags, weak ones too, or `*`. */
function isKnown(header: string | undefined, etag: string): boolean {
  const tags = header?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return tags.some((tag) => tag === '*' || tag === etag);
}

function findArtifact({ kind, status, artifacts }: JobRecord, variant: unknown): ArtifactRecord {
  if (status === 'failed') {
    throw new RequestError('job_failed', null, 'Video generation failed. Check job status for error details.');
  }
  if (status === 'cancelled') throw new RequestError('job_failed', null, 'The job was cancelled; it has no result.');
  if (status !== 'completed') throw new RequestError('not_found', null, 'Generation is still in-progress');
  const wanted = variant === undefined || variant === '' ? (kind === 'image' ? 'image' : 'video') : variant;
  const found = artifacts.find((artifact) => artifact.variant === wanted);
  if (found !== undefined) return found;
  const known = [...new Set(artifacts.map((artifact) => artifact.variant))].join(', ') || 'none';
  throw new RequestError('not_found', 'variant', `The job has no ${String(wanted).slice(0, 40)}; it has ${known}.`);
}

/** One range of bytes; several, and forms that are none, mean the whole. */
export function readRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | null {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '') ?? [];
  if (from === '' && to === '') return null;
  if (from === '') {
    const last = Number(to);
    return last === 0 || size === 0 ? 'unsatisfiable' : { start: Math.max(0, size - last), end: size - 1 };
  }
  const start = Number(from);
  const end = to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (start >= size) return 'unsatisfiable';
  return start > end ? null : { start, end };
}
