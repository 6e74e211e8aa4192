// The reference inputs of a video request: uploads, URLs, and which of them exclude each other.
import { RequestError, showValue } from '../../protocol/index.js';
import { isRecord, readObjectField } from '../bodies/json-text.js';
import type { RequestBody } from '../bodies/request-body.js';
import { readFileId, type WantedInput } from './wanted-input.js';

/** Fields that name inputs; the door does not see them. */
export const referenceFields = ['input_reference', 'input_references', 'image_reference', 'video_reference'] as const;

/**
 * Reads the references.
 * @throws RequestError in the words of the original interface
 */
export function readReferences(body: RequestBody): readonly WantedInput[] {
  const uploads = (field: string) => body.files.filter((file) => file.field === field || file.field === `${field}[]`);
  const [upload, ...moreUploads] = uploads('input_reference');
  const several = uploads('input_references');
  const spelled = readInputReference(body.values.input_reference);
  const image = readReferenceField(body, 'image_reference', 'image');
  const video = readReferenceField(body, 'video_reference', 'video');
  const conflict = (param: string, message: string): never => {
    throw new RequestError('conflict', param, message);
  };
  if (several.length > 0 && (upload || spelled || image || video)) {
    conflict(
      'input_references',
      'Provide input_references alone, without input_reference, image_reference, or video_reference.',
    );
  }
  if (several.length > 1 || moreUploads.length > 0 || (upload && spelled)) {
    conflict('input_references', 'This model takes one reference; send one picture or one clip.');
  }
  if ((upload || spelled) && (image || video)) {
    conflict(
      'input_reference',
      'Provide only one of input_reference, image_reference, or video_reference when using input_reference; image_reference and video_reference may be combined.',
    );
  }
  if (image && video) {
    conflict('video_reference', 'This diffusion model does not support mixed image and video references.');
  }
  const file = upload ?? several[0];
  return [
    ...(file ? [{ role: 'either', name: file.field, source: { kind: 'upload', file } } as const] : []),
    ...(spelled ? [spelled] : []),
    ...(image ? [image] : []),
    ...(video ? [video] : []),
  ];
}

/** `input_reference` without a file: an address, or `{ image_url }` or `{ file_id }` as the OpenAI interface has it. */
function readInputReference(value: unknown): WantedInput | null {
  if (value === undefined || value === null || value === '') return null;
  const name = 'input_reference';
  if (typeof value === 'string' && /^(https?|data):/i.test(value.trim())) {
    return { role: 'either', name, source: { kind: 'url', url: value.trim() } };
  }
  const members = readObjectField(name, value);
  if (members === null) return null;
  const wanted = readReference(name, members, 'image');
  // A file that was received before may be either; its content is known.
  return wanted.source.kind === 'kept' ? { ...wanted, role: 'either' } : wanted;
}

function readReferenceField(body: RequestBody, name: string, role: 'image' | 'video'): WantedInput | null {
  const members = readObjectField(name, body.values[name]);
  return members === null ? null : readReference(name, members, role);
}

function readReference(name: string, members: Readonly<Record<string, unknown>>, role: 'image' | 'video'): WantedInput {
  const member = `${role}_url`;
  const given = Object.entries(members).filter(([, value]) => value !== null && value !== undefined);
  const unknown = given.find(([key]) => key !== member && key !== 'file_id');
  const fail = (why: string): never => {
    throw new RequestError('invalid_value', name, `Invalid ${name}: ${why}`);
  };
  if (unknown) fail(`unknown member ${unknown[0].slice(0, 40)}; it has ${member} alone.`);
  if (given.length > 1) fail(`give either ${member} or file_id, not both.`);
  if (given[0]?.[0] === 'file_id') {
    const sha256 = readFileId(given[0][1]);
    if (sha256 === null) fail('file_id must be one that POST /v1/uploads gave, as file- and 64 hexadecimal digits.');
    return { role, name: `${name}.file_id`, source: { kind: 'kept', sha256: sha256 ?? '' } };
  }
  const value = given[0]?.[1];
  // The chat interface wraps the address once more.
  const url = isRecord(value) ? value.url : value;
  if (typeof url !== 'string' || url === '') return fail(`${member} must be a URL, got ${showValue(value ?? null)}.`);
  return { role, name: `${name}.${member}`, source: { kind: 'url', url } };
}
