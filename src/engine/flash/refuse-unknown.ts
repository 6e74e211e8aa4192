// Options that nobody reads are mistakes: a misspelt one would otherwise change nothing, silently.
import { nearestName, RequestError } from '../../protocol/index.js';

/** @throws RequestError naming the first key of `options` that is not known */
export function refuseUnknown(call: string, options: unknown, known: readonly string[]): void {
  if (options === undefined) return;
  if (typeof options !== 'object' || options === null)
    throw new RequestError('invalid_value', null, `${call} takes an object of options: ${known.join(', ')}`);
  for (const key of Object.keys(options)) {
    if (known.includes(key)) continue;
    const nearest = nearestName(key, known);
    const hint = nearest === undefined ? `there are ${known.join(', ')}` : `did you mean ${nearest}?`;
    throw new RequestError('unknown_parameter', key, `${call} has no option ${key}; ${hint}`);
  }
}
