// Control maps of a request: uploads, and places that hints name. The hints leave here without places; their files travel apart.
import { extname } from 'node:path';
import { type HintName, hintNames, isHintName, RequestError, showValue } from '../../protocol/index.js';
import { isRecord } from '../bodies/json-text.js';
import type { RequestBody } from '../bodies/request-body.js';
import { readFileId, type WantedInput } from './wanted-input.js';

type Named = Readonly<Record<string, unknown>>;

const suffixes = ['.bmp', '.gif', '.jpg', '.jpeg', '.png', '.tif', '.tiff', '.webp', '.mkv', '.mov', '.mp4', '.webm'];

/** Parameters whose hints name no places any more, and the control maps that they named. */
export interface ReadControls {
  readonly params: Named;
  readonly wanted: readonly WantedInput[];
}

/**
 * Takes the uploaded control map into the parameters.
 * @param params extra parameters
 * @throws RequestError in the words of the original interface
 */
export function readControlUpload(body: RequestBody, params: Named): ReadControls {
  const [file, second] = body.files.filter(({ field }) => field === 'control_reference');
  const type = body.values.control_type;
  const isTyped = type !== undefined && type !== null && type !== '';
  const fail = (param: string, message: string): never => {
    throw new RequestError('invalid_value', param, message);
  };
  if (second) fail('control_reference', 'control_reference can be given once; name further maps as control_path.');
  if (!file)
    return isTyped ? fail('control_type', 'control_type requires a control_reference upload.') : { params, wanted: [] };
  if (!isTyped) fail('control_reference', 'control_reference requires control_type.');
  const kind = typeof type === 'string' ? type.trim().toLowerCase() : '';
  if (!isHintName(kind)) {
    return fail(
      'control_type',
      `Control upload type '${String(type).slice(0, 40)}' is not supported by this model. Supported control upload types: blur, depth, edge, seg, wsm.`,
    );
  }
  if (file.bytes === 0) fail('control_reference', 'control_reference must not be empty.');
  const isNamed = suffixes.includes(extname(file.fileName).toLowerCase());
  if (!isNamed && !/^(image|video)\//.test(file.declaredType)) {
    fail('control_reference', 'control_reference must be an image or video file.');
  }
  const hint = params[kind];
  const isSwitch = hint === undefined || hint === null || hint === true || hint === 'true';
  if (!isSwitch && !isRecord(hint)) {
    fail('control_reference', `extra_params.${kind} must be an object when control_reference is uploaded.`);
  }
  if (isRecord(hint) && (hint.control ?? hint.control_path ?? hint.file_id) != null) {
    fail(
      'control_reference',
      `Provide either control_reference or extra_params.${kind}.control/control_path, not both.`,
    );
  }
  return {
    params: { ...params, [kind]: isSwitch ? true : hint },
    wanted: [{ role: kind, name: 'control_reference', source: { kind: 'upload', file } }],
  };
}

/** Takes the places out of the hints: a path or URL in place of the hint, its `control_path`, or its `file_id`. */
export function readControlPlaces(params: Named): ReadControls {
  const wanted: WantedInput[] = [];
  const changed: Record<string, unknown> = { ...params };
  for (const kind of hintNames) {
    const hint = params[kind];
    if (typeof hint === 'string' && hint !== 'true' && hint !== '') {
      wanted.push(wantPlace(kind, kind, hint));
      changed[kind] = true;
    } else if (isRecord(hint) && typeof hint.control_path === 'string' && (hint.control ?? null) === null) {
      const { control_path: place, ...rest } = hint;
      wanted.push(wantPlace(kind, `${kind}.control_path`, hint.control_path));
      changed[kind] = rest;
    } else if (isRecord(hint) && (hint.file_id ?? null) !== null && (hint.control ?? null) === null) {
      const { file_id: id, ...rest } = hint;
      const sha256 = readFileId(id);
      if (sha256 === null) {
        throw new RequestError(
          'invalid_value',
          kind,
          `${kind}.file_id must be one that POST /v1/uploads gave, got ${showValue(id)}`,
        );
      }
      wanted.push({ role: kind, name: `${kind}.file_id`, source: { kind: 'kept', sha256 } });
      changed[kind] = rest;
    }
  }
  return { params: changed, wanted };
}

function wantPlace(role: HintName, name: string, place: string): WantedInput {
  const isUrl = /^(https?|data):/i.test(place);
  return { role, name, source: isUrl ? { kind: 'url', url: place } : { kind: 'path', path: place } };
}
