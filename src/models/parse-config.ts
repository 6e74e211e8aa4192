// A network's config.json, checked by a schema: one error that names key, value and what would fit; unknown keys reported.
import type { TSchema } from 'typebox';
import Value from 'typebox/value';

/** A checkpoint's config does not describe a network this engine can build. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  constructor(
    readonly source: string,
    readonly key: string,
    readonly found: unknown,
    readonly expected: string,
  ) {
    super(
      `${source}: ${key} is ${JSON.stringify(found) ?? 'missing'}, expected ${expected}. Fetch the checkpoint again or correct the file.`,
    );
  }
}

export interface ParsedConfig<T> {
  readonly value: T;
  readonly unknownKeys: readonly string[];
  /** Throws a `ConfigError` for a cross-field check. */
  readonly fail: (key: string, found: unknown, expected: string) => never;
}

/**
 * Checks `json` against an object schema. Keys that begin with `_` (class name, library version) are never unknown.
 * @param source the file's path, for messages
 * @throws ConfigError
 */
export function parseConfig<T>(
  schema: TSchema & { readonly properties: object },
  json: unknown,
  source: string,
): ParsedConfig<T> {
  const fail = (key: string, found: unknown, expected: string): never => {
    throw new ConfigError(source, key, found, expected);
  };
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return fail('the file', json, 'a JSON object');
  if (!Value.Check(schema, json)) {
    const [error] = Value.Errors(schema, json);
    const missing =
      error?.keyword === 'required'
        ? (error.params as { requiredProperties?: string[] }).requiredProperties?.[0]
        : undefined;
    const key = missing ?? error?.instancePath.slice(1).replaceAll('/', '.') ?? 'the file';
    const found = missing ? undefined : Value.Pointer.Get(json, error?.instancePath ?? '');
    return fail(
      key,
      found,
      missing ? 'a value' : (error?.message ?? 'another value').replace(/^must /, 'a value that must '),
    );
  }
  const unknownKeys = Object.keys(json).filter((key) => !key.startsWith('_') && !(key in schema.properties));
  return { value: json as T, unknownKeys, fail };
}
