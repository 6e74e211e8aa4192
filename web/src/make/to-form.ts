// From what stands on the form to a request in wire words. What was not said is not sent: the server's defaults decide.
import { type JobForm, type ModelDetails, RequestError, traitsOf } from '../../../src/protocol/index.js';
import { type Draft, type DraftInput, hintIn } from './draft.js';
import { isExtra, presetOf, readAs, readTyped, sentNames, weightOf } from './fields.js';
import { nearestSize, shapesOf, type TierSize } from './sizes.js';
import { hintNames, isHint, rolesOf, type Task } from './task-inputs.js';

/** A request, and what is wrong with what was typed, by wire name. */
export interface ReadDraft {
  readonly form: JobForm;
  readonly errors: Readonly<Record<string, string>>;
}

/** Whether the canvas of a task comes from buckets: a tier can be chosen, its shape follows the input. */
export function isBucketed(task: Task): boolean {
  return traitsOf(task).isBucketed;
}

/** Reads the form. Signals are read here: a computed value over it follows every change. */
export function readDraft(draft: Draft, model: ModelDetails): ReadDraft {
  const task = draft.task.value;
  const errors: Record<string, string> = {};
  const fields: Record<string, unknown> = {};
  const extra: Record<string, unknown> = { task };
  const put = (name: string, value: unknown) => {
    (isExtra(name) ? extra : fields)[name] = value;
  };
  const take = (name: string, text: string) => {
    try {
      put(name, readTyped(name, text));
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      errors[name] = error.message;
    }
  };
  for (const name of sentNames(task)) {
    const text = draft.values.value[name] ?? '';
    if (text.trim() !== '') take(name, text);
  }
  if (isBucketed(task)) {
    if (draft.tier.value !== '') put('resolution', draft.tier.value);
  } else if (draft.shape.value === 'own') {
    for (const name of ['width', 'height']) {
      const text = draft.values.value[name] ?? '';
      if (text.trim() !== '') take(name, text);
    }
  } else {
    const size = chosenSize(draft, model);
    if (size) put('size', `${size.width}x${size.height}`);
  }
  const roles = rolesOf(task);
  const inputs = draft.inputs.value.filter(({ role }) => roles.includes(role));
  for (const input of inputs) putReference(input, fields, extra);
  if (rolesOf(task).some(isHint)) putHints(draft, inputs, extra, errors);
  return { form: { ...fields, extra_params: extra }, errors };
}

/** The trained size that is chosen; undefined where the shape is left to the server. */
export function chosenSize(draft: Draft, model: ModelDetails): TierSize | undefined {
  const shape = shapesOf(model.resolutions).find(({ label }) => label === draft.shape.value);
  if (shape === undefined) return undefined;
  const usual = model.tasks.find(({ task }) => task === draft.task.value);
  const pixels = usual ? usual.width * usual.height : 1;
  return shape.sizes.find(({ tier }) => tier === draft.tier.value) ?? nearestSize(shape, pixels);
}

function putReference(input: DraftInput, fields: Record<string, unknown>, extra: Record<string, unknown>): void {
  if (input.role === 'action') extra.action = input.rows;
  else if (input.fileId !== null && !isHint(input.role)) fields[`${input.role}_reference`] = { file_id: input.fileId };
}

function putHints(
  draft: Draft,
  inputs: readonly DraftInput[],
  extra: Record<string, unknown>,
  errors: Record<string, string>,
): void {
  for (const name of hintNames) {
    const { isOn, weight, preset } = hintIn(draft, name);
    if (!isOn) continue;
    const map = inputs.find(({ role }) => role === name);
    const strength = presetOf(name);
    const members: Record<string, unknown> = {
      ...(map?.fileId ? { file_id: map.fileId } : {}),
      ...(strength && preset !== '' && map === undefined ? { [strength.name]: preset } : {}),
    };
    try {
      const counted = weightOf(name);
      if (counted && weight.trim() !== '') members[counted.name] = readAs(counted.name, counted.schema, weight);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      errors[name] = error.message;
    }
    extra[name] = Object.keys(members).length === 0 ? true : members;
  }
}
