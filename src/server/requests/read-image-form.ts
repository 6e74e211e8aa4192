// Body of the image route -> generation form.
import Type, { type Static } from 'typebox';
import { ImageRequest, parseFields, RequestError, showValue } from '../../protocol/index.js';
import { readObjectField } from '../bodies/json-text.js';
import type { RequestBody } from '../bodies/request-body.js';
import { findIgnored, type GenerationForm, type Named, omit, refuseLora } from './generation-form.js';

const routeOnly = Type.Pick(ImageRequest, ['n', 'response_format', 'output_format', 'store']);
type RouteOnly = Static<typeof routeOnly>;

/** A picture request as the route has read it. */
export interface ImageForm extends GenerationForm {
  readonly n: number;
  readonly format: 'png' | 'jpeg' | 'webp';
  /** The format in the client's word. */
  readonly formatName: NonNullable<RouteOnly['output_format']>;
  readonly asFile: boolean;
  readonly size: string | null;
  /** The picture stays among the caller's jobs. */
  readonly isKept: boolean;
}

const routeFields = [
  'n',
  'response_format',
  'output_format',
  'store',
  'extra_params',
  'extra_body',
  'lora',
  'user',
  'quality',
  'style',
];

/**
 * Reads the body of a picture request.
 * @throws RequestError naming the field at fault
 */
export function readImageForm(body: RequestBody): ImageForm {
  const { values } = body;
  const extra = {
    ...(readObjectField('extra_body', values.extra_body) ?? {}),
    ...(readObjectField('extra_params', values.extra_params) ?? {}),
  };
  refuseLora(readObjectField('lora', values.lora ?? extra.lora));
  checkSize(values.size, body.isForm);
  if (values.response_format === 'url') {
    throw new RequestError(
      'invalid_value',
      'response_format',
      'response_format must be one of b64_json, file, got "url": pictures are not kept under an address',
    );
  }
  const route = parseFields(routeOnly, body.isForm ? omit(values, [], true) : values);
  const fields = omit(values, routeFields, body.isForm);
  const formatName = route.output_format ?? 'png';
  return {
    fields: normaliseSystem(fields),
    extra: { ...omit(extra, ['lora', 'modalities'], false), task: 'text-to-image' },
    wanted: [],
    ignored: [
      ...findIgnored(fields, ['model']),
      ...findIgnored(extra, []),
      ...body.files.map(({ field }) => field),
      ...['user', 'quality', 'style'].filter((name) => (values[name] ?? '') !== ''),
    ],
    n: route.n ?? 1,
    format: formatName === 'jpg' ? 'jpeg' : formatName,
    formatName,
    asFile: route.response_format === 'file',
    isKept: route.store ?? true,
    size: typeof values.size === 'string' && values.size !== '' ? values.size : null,
  };
}

function checkSize(size: unknown, isForm: boolean): void {
  if (size === undefined || size === null || (isForm && size === '') || size === 'auto') return;
  const fail = (message: string): never => {
    throw new RequestError('invalid_value', 'size', message);
  };
  if (typeof size !== 'string' || size.trim() === '')
    fail(`Size must be a non-empty string, as 1024x1024, got ${showValue(size)}`);
  const [, width, height] = /^(\d{1,9})x(\d{1,9})$/.exec(String(size)) ?? [];
  if (width === undefined || height === undefined) {
    fail(
      `Invalid size format: ${showValue(size).replaceAll('"', "'")}. Expected format: 'WIDTHxHEIGHT', as 1024x1024.`,
    );
  }
  if (Number(width) < 1 || Number(height) < 1) {
    fail(`Invalid size: ${width}x${height}. Width and height must be positive integers.`);
  }
}

/** `size: "auto"` means none. */
function normaliseSystem(fields: Named): Named {
  return fields.size === 'auto' ? omit(fields, ['size'], false) : fields;
}
