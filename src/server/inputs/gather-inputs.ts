// Brings the inputs of a request into the upload store: received, fetched or copied, looked at, kept by content.
import { rm, writeFile } from 'node:fs/promises';
import type { WireRequest } from '../../engine/index.js';
import type { JobInput, UploadStore } from '../../engine/jobs/types.js';
import { MediaError } from '../../media/index.js';
import { type HintName, isHintName, RequestError } from '../../protocol/index.js';
import type { InputSettings } from '../options/settings.js';
import { copyLocalInput, fetchInput } from './fetch-input.js';
import type { Inspection } from './inspect-media.js';
import type { MediaInspector } from './media-inspector.js';
import type { WantedInput } from './wanted-input.js';

type MediaSource = NonNullable<WireRequest['image']>;

/** Where inputs go and what looks at them. */
export interface InputRoom {
  readonly uploads: UploadStore;
  readonly inspector: MediaInspector;
  readonly settings: InputSettings;
}

/** Inputs that are kept: for the queue by content, for the planner by place. */
export interface GatheredInputs {
  readonly inputs: readonly JobInput[];
  readonly image?: MediaSource;
  readonly video?: MediaSource;
  readonly controls: Readonly<Partial<Record<HintName, MediaSource>>>;
}

/**
 * Gathers inputs.
 * @throws RequestError naming the input that cannot be used
 */
export async function gatherInputs(wanted: readonly WantedInput[], room: InputRoom): Promise<GatheredInputs> {
  const inputs: JobInput[] = [];
  const sources: Record<string, MediaSource> = {};
  for (const input of wanted) {
    const kept = await keepInput(input, room);
    if (sources[kept.role]) throw new RequestError('conflict', input.name, `${kept.role} is given twice; give it once`);
    inputs.push({ role: kept.role, sha256: kept.sha256 });
    sources[kept.role] = { kind: 'file', path: kept.path };
  }
  const { image, video, ...controls } = sources;
  return { inputs, controls, ...(image ? { image } : {}), ...(video ? { video } : {}) };
}

async function keepInput(
  { role, name, source }: WantedInput,
  { uploads, inspector, settings }: InputRoom,
): Promise<{ readonly role: string; readonly sha256: string; readonly path: string }> {
  if (source.kind === 'kept') return findKept({ role, name }, source.sha256, uploads);
  const path = source.kind === 'upload' ? source.file.path : uploads.temporaryPath();
  try {
    if (source.kind === 'url') await fetchInput(name, source.url, path, settings);
    else if (source.kind === 'path') await copyLocalInput(name, source.path, path, settings);
    else if (source.kind === 'picture') await writeFile(path, await source.make(), { flag: 'wx' });
    const found = source.kind === 'picture' ? pngMade : await inspect(name, path, inspector);
    const upload = await uploads.keep(path, found.mediaType);
    return { role: settleRole(role, name, found), sha256: upload.sha256, path: uploads.path(upload) };
  } finally {
    await rm(path, { force: true });
  }
}

/** A file that was received before. */
async function findKept(
  { role, name }: Pick<WantedInput, 'role' | 'name'>,
  sha256: string,
  uploads: UploadStore,
): Promise<{ readonly role: string; readonly sha256: string; readonly path: string }> {
  const upload = await uploads.get(sha256);
  if (upload === null) {
    const param = name.split('.')[0] ?? name;
    throw new RequestError('invalid_media', param, `Invalid ${name}: the file is not kept any more; upload it again.`);
  }
  const { mediaType } = upload;
  const kind = mediaType.startsWith('image/') ? 'image' : 'video';
  return { role: settleRole(role, name, { kind, mediaType }), sha256, path: uploads.path(upload) };
}

const pngMade = { kind: 'image', mediaType: 'image/png' } as const;

async function inspect(name: string, path: string, inspector: MediaInspector): Promise<Inspection> {
  const param = name.split('.')[0] ?? name;
  try {
    return await inspector.inspect(path);
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    if (error.code === 'ffmpeg_missing') throw new RequestError('unsupported', param, error.message);
    const isForeign = error.code === 'unsupported_type';
    const words = isForeign ? error.message : `the content cannot be used. (${error.message})`;
    throw new RequestError('invalid_media', param, `Invalid ${param}: ${words}`);
  }
}

function settleRole(
  role: WantedInput['role'],
  name: string,
  { kind, mediaType }: Pick<Inspection, 'kind' | 'mediaType'>,
): string {
  if (role === 'either') return kind;
  if (isHintName(role) || role === kind) return role;
  // A moving GIF is a clip where only a clip will do.
  if (role === 'video' && mediaType === 'image/gif') return role;
  const param = name.split('.')[0] ?? name;
  throw new RequestError('invalid_media', param, `Invalid ${name}: it must be a ${role}, its content is a ${kind}.`);
}
