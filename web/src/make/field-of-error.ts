// Which field of the form an error of the server belongs to.
import { isHint } from './task-inputs.js';
import type { Problem } from './use-plan.js';

/** Parameters that the server names and that stand under another name on the form. */
const places: Readonly<Record<string, string>> = {
  image: 'inputs',
  video: 'inputs',
  input_reference: 'inputs',
  image_reference: 'inputs',
  video_reference: 'inputs',
  action: 'inputs',
  file: 'inputs',
  action_mode: 'task',
};

/** Name of the field; empty where no single one is at fault. */
export function fieldOfError(param: string | null, shown: ReadonlySet<string>): string {
  if (param === null) return '';
  const [name = ''] = param.split('.');
  const member = param.startsWith('extra_params.') ? (param.split('.')[1] ?? '') : name;
  const place = places[member] ?? member;
  if (place === 'inputs' || isHint(place)) return place;
  if ((place === 'width' || place === 'height' || place === 'size') && !shown.has(place)) return 'size';
  return shown.has(place) ? place : '';
}

/** Errors by field: what was typed wrongly, and what the server objects to. */
export function errorsByField(
  typed: Readonly<Record<string, string>>,
  problem: Problem | null,
  shown: ReadonlySet<string>,
): Readonly<Record<string, string>> {
  if (problem === null) return typed;
  const field = fieldOfError(problem.param, shown);
  return field === '' ? typed : { [field]: problem.message, ...typed };
}
