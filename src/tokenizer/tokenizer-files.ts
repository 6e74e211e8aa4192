// Reads the files of a tokenizer folder as Hugging Face lays them out.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TokenizerError } from './tokenizer-error.js';

/** The parsed content of a tokenizer folder, each part with the path it was read from. */
export interface TokenizerFiles {
  /** tokenizer.json: vocabulary, merges, normaliser, splitting. */
  readonly tokenizer: { readonly path: string; readonly content: JsonObject };
  /** tokenizer_config.json; empty where the folder has none. */
  readonly config: { readonly path: string; readonly content: JsonObject };
  /** chat_template.jinja, else the template inside tokenizer_config.json; undefined where there is neither. */
  readonly chatTemplate: { readonly path: string; readonly source: string } | undefined;
}

export type JsonObject = Readonly<Record<string, unknown>>;

const remedy =
  'name the folder of the checkpoint (its text_tokenizer holds tokenizer.json), or fetch it again with "orrery pull"';

/**
 * Reads tokenizer.json, tokenizer_config.json and the chat template of a folder.
 * @throws TokenizerError when tokenizer.json is missing, or any of the files is unreadable, no JSON or of the wrong form.
 */
export function readTokenizerFiles(folder: string): TokenizerFiles {
  const tokenizerPath = join(folder, 'tokenizer.json');
  const tokenizer = readJson(tokenizerPath);
  if (!tokenizer) throw new TokenizerError(tokenizerPath, `there is no such file; ${remedy}`);
  if (!isObject(tokenizer.model))
    throw new TokenizerError(tokenizerPath, `it has no "model", so it is not a tokenizer; ${remedy}`);
  const configPath = join(folder, 'tokenizer_config.json');
  const config = readJson(configPath) ?? {};
  const templatePath = join(folder, 'chat_template.jinja');
  const template = readText(templatePath);
  const configured = templateIn(config);
  let chatTemplate: TokenizerFiles['chatTemplate'];
  if (template !== undefined) chatTemplate = { path: templatePath, source: template };
  else if (configured !== undefined) chatTemplate = { path: configPath, source: configured };
  return {
    tokenizer: { path: tokenizerPath, content: tokenizer },
    config: { path: configPath, content: config },
    chatTemplate,
  };
}

/** A string, or in files with several named templates the one called "default". */
function templateIn(config: JsonObject): string | undefined {
  const template = config.chat_template;
  if (typeof template === 'string') return template;
  if (!Array.isArray(template)) return undefined;
  const standard: unknown = template.find((entry: unknown) => isObject(entry) && entry.name === 'default');
  return isObject(standard) && typeof standard.template === 'string' ? standard.template : undefined;
}

function readJson(path: string): JsonObject | undefined {
  const text = readText(path);
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new TokenizerError(path, `it is not valid JSON (${text.length} characters); ${remedy}`, { cause });
  }
  if (!isObject(value)) throw new TokenizerError(path, `it holds no JSON object; ${remedy}`);
  return value;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new TokenizerError(path, `it cannot be read (${String(code)}); check its permissions`, { cause });
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
