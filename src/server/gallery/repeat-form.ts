// The body that asks for a job's result again: its parameters, and its inputs by the content they were kept under.
import type { JobRecord, JsonObject, JsonValue } from '../../engine/jobs/types.js';
import { isHintName } from '../../protocol/index.js';
import { isRecord } from '../bodies/json-text.js';
import { fileIdOf } from '../inputs/wanted-input.js';

/** A body for `POST /v1/jobs`. The seed stands in it where the request had one. */
export function repeatForm({ request, outputs, kind }: Pick<JobRecord, 'request' | 'outputs' | 'kind'>): JsonObject {
  const { fields, extra, inputs } = request;
  const form: Record<string, JsonValue> = { ...fields };
  const params: Record<string, JsonValue> = { ...extra };
  for (const { role, sha256 } of inputs) {
    const reference = { file_id: fileIdOf(sha256) };
    if (!isHintName(role)) {
      form[`${role}_reference`] = reference;
      continue;
    }
    // A hint stands among the fields or among the extra parameters; its file goes where it stands.
    const place = role in params ? params : role in form ? form : params;
    const hint = place[role];
    place[role] = isRecord(hint) ? { ...hint, ...reference } : reference;
  }
  const picture = outputs.find(({ variant }) => variant === 'image');
  if (kind === 'image' && picture !== undefined && picture.kind !== 'png') form.output_format = picture.kind;
  return Object.keys(params).length === 0 ? form : { ...form, extra_params: params };
}
