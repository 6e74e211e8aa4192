// Control hints and the options of transfer. A hint is `true` (made from the input video), a path, or an object.
import type { MediaSource } from '../../pipeline/media-source.js';
import { type ControlPreset, type HintKind, type HintRequest, hintKinds } from '../../pipeline/request.js';
import { nearestName, RequestError, showValue } from '../../protocol/index.js';
import { readInlineFrames, readMediaReference } from './media-reference.js';
import type { NamedValues } from './merge-names.js';

const presets: readonly ControlPreset[] = ['none', 'very_low', 'low', 'medium', 'high', 'very_high'];
const presetNames: Partial<Record<HintKind, string>> = { edge: 'preset_edge_threshold', blur: 'preset_blur_strength' };

/**
 * The hints among `values`, in the order the networks were trained with.
 * @param uploads control maps that arrived beside the values, by hint
 * @throws RequestError for a hint of the wrong form, an unknown member, a bad weight or preset
 */
export function readHints(
  values: NamedValues,
  uploads: Readonly<Partial<Record<HintKind, MediaSource>>>,
): readonly HintRequest[] {
  return hintKinds.flatMap((kind) => {
    const value = values[kind] ?? (uploads[kind] === undefined ? undefined : true);
    return value === undefined ? [] : [readHint(kind, value, uploads[kind])];
  });
}

function readHint(kind: HintKind, value: unknown, upload: MediaSource | undefined): HintRequest {
  if (value === true || value === 'true') return { kind, ...(upload === undefined ? {} : { source: upload }) };
  if (typeof value === 'string' && value !== '' && upload === undefined) {
    return { kind, source: readMediaReference(kind, value) };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new RequestError(
      'invalid_value',
      kind,
      `transfer hint '${kind}' must be an object, path string, or true; got ${showValue(value)}`,
    );
  }
  const members = new Map<string, unknown>(Object.entries(value).filter(([, member]) => member !== null));
  checkNames(kind, [...members.keys()]);
  const source = readSource(kind, members, upload);
  const weight = readWeight(kind, members.get('control_weight'));
  const preset = readPreset(kind, members.get(presetNames[kind] ?? ''));
  return {
    kind,
    ...(source === undefined ? {} : { source }),
    ...(weight === undefined ? {} : { weight }),
    ...(preset === undefined ? {} : { preset }),
  };
}

function checkNames(kind: HintKind, names: readonly string[]): void {
  const allowed = ['control_path', 'control', 'control_weight', presetNames[kind] ?? ''].filter((name) => name !== '');
  const unknown = names.filter((name) => !allowed.includes(name));
  const [first] = unknown;
  if (first === undefined) return;
  const nearest = nearestName(first, allowed);
  throw new RequestError(
    'unknown_parameter',
    `${kind}.${first}`,
    `transfer hint '${kind}' has no field ${unknown.join(', ')}${nearest === undefined ? '' : `; did you mean ${nearest}?`} (it has ${allowed.join(', ')})`,
  );
}

function readSource(
  kind: HintKind,
  members: ReadonlyMap<string, unknown>,
  upload: MediaSource | undefined,
): MediaSource | undefined {
  const path = members.get('control_path');
  const control = members.get('control');
  if (upload !== undefined && (path !== undefined || control !== undefined)) {
    throw new RequestError('conflict', kind, `give either control_reference or ${kind}.control/control_path, not both`);
  }
  if (control !== undefined) return readInlineFrames(`${kind}.control`, control);
  return path === undefined ? upload : readMediaReference(`${kind}.control_path`, path);
}

function readWeight(kind: HintKind, value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const weight = typeof value === 'string' ? Number(value) : value;
  if (typeof weight === 'number' && Number.isFinite(weight) && weight >= 0) return weight;
  throw new RequestError(
    'invalid_value',
    `${kind}.control_weight`,
    `${kind}.control_weight must be finite and non-negative, got ${showValue(value)}`,
  );
}

function readPreset(kind: HintKind, value: unknown): ControlPreset | undefined {
  if (value === undefined) return undefined;
  const preset = presets.find((name) => name === value);
  if (preset !== undefined) return preset;
  throw new RequestError(
    'invalid_value',
    `${kind}.${presetNames[kind]}`,
    `${kind}.${presetNames[kind]} must be one of ${presets.join(', ')}, got ${showValue(value)}`,
  );
}
