// Which files a generation writes: those that are asked for, or the one that fits its plan.
import type { Plan } from '../../pipeline/plan-types.js';
import type { ReadRequest } from '../door/read-request.js';
import {
  checkWritable,
  fittingKinds,
  impliedByTargets,
  type OutputTarget,
  readOutputTargets,
} from './output-target.js';

/** One path, or several. */
export type OutputPaths = string | readonly string[];

/** Paths, or a function that names them once there is a plan. */
export type Output = OutputPaths | ((plan: Plan) => OutputPaths) | undefined;

/** Words that are to become a picture are a text-to-image request. */
export function implyTask(read: ReadRequest, output: Output): ReadRequest {
  if (output === undefined || typeof output === 'function') return read;
  return { ...read, request: impliedByTargets(read.request, readOutputTargets([output].flat())) };
}

/** The targets of paths. @throws RequestError for an extension that is none, and where nothing can be written */
export function readTargets(output: OutputPaths): readonly OutputTarget[] {
  const targets = readOutputTargets([output].flat());
  checkWritable(targets);
  return targets;
}

/** The file of a plan whose caller names none. */
export function naturalTarget(plan: Plan): OutputTarget {
  const kind = fittingKinds(plan)[0] ?? 'json';
  return { path: `result.${kind}`, kind };
}
