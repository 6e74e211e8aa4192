// Settings from a file, and settings shown as one: YAML or JSON with the names of flags as keys.
import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { RequestError } from '../../protocol/index.js';
import { isRecord } from '../bodies/json-text.js';
import { type FlagInput, findFlag, readFlags, serveFlags } from './flags.js';
import { isObeyed } from './serve-flag.js';

/**
 * Reads a config file.
 * @throws RequestError when it cannot be read, is malformed, or has a key that is no flag
 */
export function readConfigFile(path: string): FlagInput {
  const fail = (why: string): never => {
    throw new RequestError('invalid_value', 'config', `--config ${path}: ${why}`);
  };
  let content: unknown;
  try {
    content = parse(readFileSync(path, 'utf8'));
  } catch (error) {
    return fail(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
  }
  if (content === null || content === undefined) return {};
  if (!isRecord(content)) return fail('it must be a list of names and values, as "port: 8000"');
  const { config, 'print-config': shown, print_config: shownToo, ...input } = content;
  if (config !== undefined || shown !== undefined || shownToo !== undefined) {
    fail('config and print-config can only be given as flags');
  }
  return input;
}

/** The settings that flags mean, as a config file; what nobody set stands with its default. Keys are not shown. */
export function printConfig(input: FlagInput): string {
  const { values } = readFlags(input);
  const shown: Record<string, unknown> = {};
  for (const flag of serveFlags) {
    const { name, fallback } = flag;
    if (!isObeyed(flag) || name === 'config' || name === 'print-config') continue;
    const value = values[name] ?? fallback;
    if (value !== undefined) shown[name] = name === 'api-key' ? listOf(value).map(() => '(hidden)') : value;
  }
  return stringify(shown);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

/** Where values come from: what an error says of it, null for the command line. */
export interface InputSource {
  readonly name: string | null;
  readonly input: FlagInput;
}

/** What went wrong with a flag, with where the flag came from unless that is the command line; sources in the order in which they win. */
export function nameSource(error: unknown, sources: readonly InputSource[]): unknown {
  if (!(error instanceof RequestError) || error.param === null) return error;
  const wanted = findFlag(error.param)?.name ?? error.param;
  const source = sources.find(({ input }) =>
    Object.entries(input).some(([name, value]) => value !== undefined && (findFlag(name)?.name ?? name) === wanted),
  );
  if (!source?.name) return error;
  return new RequestError(error.code, error.param, `${error.message} (${source.name})`);
}

/** Values of several sources as one; the first source that has a flag wins. */
export function mergeInputs(...sources: readonly FlagInput[]): FlagInput {
  const merged: Record<string, unknown> = {};
  for (const source of sources) {
    for (const [name, value] of Object.entries(source)) {
      const key = findFlag(name)?.name ?? name;
      if (value !== undefined && merged[key] === undefined) merged[key] = value;
    }
  }
  return merged;
}
