// JSON files of a checkpoint.
import { readFileSync } from 'node:fs';
import { CheckpointError } from './errors.js';

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A parsed JSON file. @throws CheckpointError when it is missing or no JSON. */
export function readJson(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CheckpointError(
      file,
      `cannot be read (${reason})`,
      'download it again (orrery pull), or check the path',
      { cause },
    );
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CheckpointError(file, `no valid JSON (${reason})`, 'correct it, or download it again', { cause });
  }
}
