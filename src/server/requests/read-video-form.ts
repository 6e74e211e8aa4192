// Body of the video routes -> generation form.
import Type from 'typebox';
import { parseFields, VideoRequest } from '../../protocol/index.js';
import { readObjectField } from '../bodies/json-text.js';
import type { RequestBody } from '../bodies/request-body.js';
import { readControlPlaces, readControlUpload } from '../inputs/read-controls.js';
import { readReferences, referenceFields } from '../inputs/read-references.js';
import { asksForPolicy, readPolicyParams } from '../policy/policy-params.js';
import { findIgnored, type GenerationForm, omit, readSwitch, readWord, refuseLora } from './generation-form.js';

/** A video request as the route has read it. */
export interface VideoForm extends GenerationForm {
  readonly wantsMetrics: boolean;
}

const routeOnly = Type.Pick(VideoRequest, ['num_outputs_per_prompt']);

/** Fields that end at the route. */
const routeFields: readonly string[] = [
  ...referenceFields,
  'control_type',
  'extra_params',
  'extra_body',
  'lora',
  'num_outputs_per_prompt',
  'quality',
  'return_stage_metrics',
  'user',
];

const fileFields: readonly string[] = ['input_reference', 'input_references', 'control_reference'];

/**
 * Reads the body of a video request.
 * @throws RequestError naming the field at fault
 */
export function readVideoForm(body: RequestBody): VideoForm {
  const { values } = body;
  const extraParams = readObjectField('extra_params', values.extra_params) ?? {};
  const given = { ...(readObjectField('extra_body', values.extra_body) ?? {}), ...extraParams };
  refuseLora(readObjectField('lora', values.lora ?? given.lora));
  const references = readReferences(body);
  parseFields(routeOnly, body.isForm ? omit(values, [], true) : values);
  readWord(values, 'quality', ['lossless', 'high', 'default']);
  const wantsMetrics = readSwitch(values, 'return_stage_metrics');
  const upload = readControlUpload(body, omit(given, ['lora'], false));
  const policy = asksForPolicy(upload.params) ? readPolicyParams(upload.params) : null;
  const places = readControlPlaces(policy?.params ?? upload.params);
  const fields = omit(values, routeFields, body.isForm);
  // Hints may stand among the fields as well.
  const fieldPlaces = readControlPlaces(fields);
  const ignoredFiles = body.files
    .map(({ field }) => field)
    .filter((field) => !fileFields.includes(field.replace(/\[\]$/, '')));
  return {
    fields: { ...fieldPlaces.params, ...(wantsMetrics ? { return_stage_metrics: true } : {}) },
    extra: places.params,
    wanted: [...references, ...upload.wanted, ...(policy?.wanted ?? []), ...places.wanted, ...fieldPlaces.wanted],
    ignored: [
      ...findIgnored(fields, ['model']),
      ...findIgnored(places.params, []),
      ...(policy?.ignored ?? []),
      ...ignoredFiles,
      ...['quality', 'user'].filter((name) => (values[name] ?? '') !== ''),
      ...(Number(values.num_outputs_per_prompt ?? 1) > 1 ? ['num_outputs_per_prompt'] : []),
    ],
    wantsMetrics,
  };
}
