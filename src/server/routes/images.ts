// Pictures from words.
import { randomBytes, randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Plan } from '../../engine/index.js';
import type { JobRecord } from '../../engine/jobs/types.js';
import { ImageRequest, ImageResponse, RequestError } from '../../protocol/index.js';
import { awaitJob, goneSignal } from '../jobs/await-job.js';
import { imageOutputs, syncImageOutputs } from '../jobs/job-outputs.js';
import { enqueue, type Prepared, prepare } from '../jobs/submission.js';
import { zipFiles } from '../jobs/zip-files.js';
import { ownerOf } from '../owner.js';
import { type ImageForm, readImageForm } from '../requests/read-image-form.js';
import { sendFailure } from '../respond.js';
import type { ServerContext } from '../server-context.js';
import { documented } from './documented.js';
import { receiveBody } from './request-body.js';
import { describeEnd, drop } from './video-sync.js';
import { tellIgnored } from './videos.js';

const tags = ['Images'];

/** A finished picture. */
export interface MadePicture {
  readonly record: JobRecord;
  readonly seed: number;
  readonly bytes: Uint8Array;
}

/** Adds the routes. */
export function addImageRoutes(app: FastifyInstance, context: ServerContext): void {
  const schema = documented({
    summary: 'Makes pictures; the reply holds them',
    tags,
    body: ImageRequest,
    consumes: ['application/json', 'multipart/form-data', 'application/x-www-form-urlencoded'],
    reply: ImageResponse,
    errors: [400, 401, 413, 415, 429, 500, 503, 504],
  });
  app.post('/v1/images/generations', { schema }, async (request, reply) => {
    const gone = goneSignal(reply);
    await using body = await receiveBody(request, context);
    const form = readImageForm(body);
    tellIgnored(reply, form.ignored);
    const made = await makePictures(context, form, { request, signal: gone });
    if (made.failed !== null) return sendFailure(request, reply, describeEnd(made.failed, 'Image generation failed'));
    return form.asFile ? sendFiles(reply, form, made.pictures) : describePictures(form, made.pictures);
  });

  app.post(
    '/v1/images/edits',
    { schema: documented({ summary: 'Not available: this model edits no pictures', tags, errors: [501] }) },
    () => {
      throw new RequestError(
        'not_implemented',
        null,
        'This model has no picture editing. POST /v1/images/generations makes pictures from words, POST /v1/videos clips from a picture.',
      );
    },
  );
}

/** The pictures of a request, or the record of the first job that failed. */
export interface MadePictures {
  readonly pictures: readonly MadePicture[];
  readonly failed: JobRecord | null;
}

/** Makes the pictures of a form, one job each. */
export async function makePictures(
  context: ServerContext,
  form: ImageForm,
  { request, signal }: { readonly request: FastifyRequest; readonly signal: AbortSignal },
): Promise<MadePictures> {
  const prepared = await prepare(context, form);
  checkPixels(prepared.planned.plan, context.settings.maxImagePixels);
  const { syncTimeoutSeconds: timeoutSeconds } = context.settings;
  const requestId = `img_gen-${randomUUID()}`;
  const jobs: string[] = [];
  try {
    for (let i = 0; i < form.n; i++) {
      const { record } = await enqueue(
        context,
        prepared,
        {
          owner: ownerOf(request),
          requestId,
          id: `image_gen_${randomUUID().replaceAll('-', '')}`,
          kind: 'image',
          outputs: () => (form.isKept ? imageOutputs(form.format) : syncImageOutputs(form.format)),
          transient: !form.isKept,
          deadlineAt: Date.now() + timeoutSeconds * 1000,
        },
        drawn(prepared, i),
      );
      jobs.push(record.id);
    }
  } catch (error) {
    // All pictures of a request or none: a queue may have had room for some.
    await cancelAll(context, jobs);
    throw error;
  }
  const pictures: MadePicture[] = [];
  for (const [i, id] of jobs.entries()) {
    try {
      const record = await awaitJob(context.queue, id, { timeoutSeconds, signal, ending: context.ending });
      if (record.status !== 'completed') {
        await cancelAll(context, jobs.slice(i + 1));
        return { pictures: [], failed: record };
      }
      const artifact = record.artifacts.find(({ variant }) => variant === 'image');
      if (artifact === undefined) throw new Error(`the picture job ${id} has no file`);
      const bytes = await buffer(await context.artifacts.read(artifact.file));
      pictures.push({ record, seed: drawn(prepared, i).plan.seed, bytes });
    } catch (error) {
      await cancelAll(context, jobs.slice(i));
      throw error;
    }
  }
  if (!form.isKept) for (const id of jobs) await drop(context, id);
  return { pictures, failed: null };
}

/** Pictures of one request go on drawing from its seed's generator. Source: api spec, 1.3. */
function drawn(
  { planned: { plan } }: Prepared,
  index: number,
): { readonly plan: Plan; readonly extra: Readonly<Record<string, unknown>> } {
  const draw = plan.draw + index;
  return { plan: { ...plan, draw }, extra: draw === 0 ? {} : { seed: plan.seed, noise_index: draw } };
}

async function cancelAll({ queue }: ServerContext, ids: readonly string[]): Promise<void> {
  for (const id of ids) await queue.cancel(id);
}

function checkPixels({ canvas }: Plan, most: number): void {
  if (canvas.width * canvas.height <= most) return;
  throw new RequestError(
    'invalid_value',
    'size',
    `size is ${canvas.width}x${canvas.height}, ${canvas.width * canvas.height} pixels; the limit of this server is ${most}`,
  );
}

function describePictures(form: ImageForm, made: readonly MadePicture[]): ImageResponse {
  const [first] = made;
  const phases: Record<string, number> = {};
  for (const { record } of made) {
    for (const [name, seconds] of Object.entries(record.timings?.phases ?? {}))
      phases[name] = (phases[name] ?? 0) + seconds;
  }
  const warnings = first?.record.result?.warnings;
  return {
    created: Math.floor(Date.now() / 1000),
    data: made.map(({ bytes }) => ({
      b64_json: Buffer.from(bytes).toString('base64'),
      url: null,
      revised_prompt: null,
    })),
    output_format: form.formatName,
    size: form.size,
    cot_output: null,
    metrics: {
      stage_durations: phases,
      peak_memory_mb: Math.max(0, ...made.map(({ record }) => record.timings?.peakMemoryMb ?? 0)),
      inference_time_s: made.reduce((sum, { record }) => sum + (record.timings?.total ?? 0), 0),
    },
    seeds: made.map(({ seed }) => seed),
    warnings: Array.isArray(warnings)
      ? warnings.flatMap((item: unknown) => (isWarning(item) ? [{ param: item.param, message: item.message }] : []))
      : [],
  };
}

function isWarning(value: unknown): value is { readonly param: string; readonly message: string } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'param' in value &&
    'message' in value &&
    typeof value.param === 'string' &&
    typeof value.message === 'string'
  );
}

function sendFiles(reply: FastifyReply, { formatName, format }: ImageForm, made: readonly MadePicture[]) {
  const name = randomBytes(4).toString('hex');
  const extension = formatName === 'jpeg' ? 'jpg' : formatName;
  const [first, ...others] = made;
  if (first !== undefined && others.length === 0) {
    return reply
      .type(`image/${format}`)
      .header('content-disposition', `attachment; filename=image_${name}.${extension}`)
      .header('content-length', first.bytes.length)
      .send(Buffer.from(first.bytes));
  }
  const files = made.map(({ bytes }, i) => ({ name: `image_${i}.${extension}`, bytes }));
  return reply
    .type('application/zip')
    .header('content-disposition', `attachment; filename=images_${name}.zip`)
    .send(zipFiles(files));
}
