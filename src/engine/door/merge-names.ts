// One set of named values out of fields and extra parameters: other spellings made one, the unknown sorted out.
import type { PlanWarning } from '../../pipeline/plan-types.js';
import { aliases, knownNames, nearestName, RequestError, unavailableNames, unusedNames } from '../../protocol/index.js';

/** Values by their wire names, none of them null. */
export type NamedValues = Readonly<Record<string, unknown>>;

const known = new Set(knownNames);

/**
 * Merges fields and extra parameters; the latter win. Null stands for absent.
 * @param strict an unknown name is an error instead of a warning
 * @throws RequestError for a name that is not available, or unknown with `strict`
 */
export function mergeNames(
  fields: NamedValues,
  extra: NamedValues,
  strict: boolean,
): { readonly values: NamedValues; readonly warnings: readonly PlanWarning[] } {
  const warnings: PlanWarning[] = [];
  for (const [name, value] of [...Object.entries(fields), ...Object.entries(extra)]) {
    if (value === null || value === undefined || known.has(name)) continue;
    const reason = Object.hasOwn(unavailableNames, name) ? unavailableNames[name] : undefined;
    if (reason !== undefined && isGiven(value)) throw new RequestError('not_implemented', name, `${name}: ${reason}`);
    if (reason !== undefined || unusedNames.has(name)) continue;
    const nearest = nearestName(name, knownNames);
    const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`;
    if (strict) throw new RequestError('unknown_parameter', name, `unknown parameter ${name}${hint}`);
    warnings.push({ param: name, message: `unknown parameter ${name} is ignored${hint}` });
  }
  return { values: { ...canonical(fields), ...canonical(extra) }, warnings };
}

function isGiven(value: unknown): boolean {
  return value !== false && value !== 0 && value !== '' && value !== 'false' && value !== '0';
}

function canonical(named: NamedValues): NamedValues {
  const values: Record<string, unknown> = {};
  const given = Object.entries(named).filter(([, value]) => value !== null && value !== undefined);
  for (const [name, value] of given) if (Object.hasOwn(aliases, name)) values[aliases[name] ?? name] = value;
  for (const [name, value] of given) if (!Object.hasOwn(aliases, name)) values[name] = value;
  return values;
}
