// Examples in the documentation that are meant to be run: fenced blocks whose first line reads ```ts run or ```sh run.

import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { smallCheckpoint } from '../small-checkpoint.js';

export interface Example {
  readonly file: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
  readonly language: 'ts' | 'sh';
  readonly code: string;
}

export interface Outcome {
  readonly ok: boolean;
  readonly output: string;
}

/** Runnable examples of a Markdown text, in order. */
export function extractExamples(file: string, markdown: string): Example[] {
  const examples: Example[] = [];
  let open: { readonly fence: string; readonly info: string; readonly line: number; readonly lines: string[] } | null =
    null;
  for (const [i, text] of markdown.split('\n').entries()) {
    const fence = /^(`{3,})(.*)$/.exec(text);
    if (!open) {
      if (fence) open = { fence: fence[1] ?? '', info: (fence[2] ?? '').trim(), line: i + 1, lines: [] };
    } else if (text.trimEnd() === open.fence) {
      const language = /^(ts|sh) run$/.exec(open.info)?.[1];
      if (language === 'ts' || language === 'sh')
        examples.push({ file, line: open.line, language, code: `${open.lines.join('\n')}\n` });
      open = null;
    } else open.lines.push(text);
  }
  if (open) throw new Error(`${file}:${open.line}: the code block is never closed`);
  return examples;
}

/** Files that an example says it writes: comments of the form `-> NAME`. */
export function promisedFiles({ code }: Example): string[] {
  return [...code.matchAll(/(?:\/\/|#) -> (\S+)/g)].map(([, name = '']) => name);
}

const run = promisify(execFile);
const timeLimitMs = 120_000;

/**
 * Runs an example in a folder of its own, where `prepare` may put what it reads. TypeScript runs against the built
 * package under its own name, shell commands find the built `orrery`; `npx NAME` means `NAME`.
 * @param root the repository, whose `out/` is used
 */
export async function runExample(root: string, example: Example, prepare?: (folder: string) => void): Promise<Outcome> {
  mkdirSync(join(root, 'out'), { recursive: true });
  const folder = mkdtempSync(join(root, 'out', 'example-'));
  try {
    prepare?.(folder);
    const output = await start(root, folder, example);
    const missing = promisedFiles(example).filter((name) => !isFilled(join(folder, name)));
    if (missing.length > 0) return { ok: false, output: `${output}\ndid not write ${missing.join(', ')}` };
    return { ok: true, output };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const printed = error instanceof Error && 'stdout' in error ? String(error.stdout) : '';
    return { ok: false, output: `${printed}${text}` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function start(root: string, folder: string, { language, code }: Example): Promise<string> {
  const options = {
    cwd: folder,
    timeout: timeLimitMs,
    env: { ...process.env, HF_HUB_OFFLINE: '1', ORRERY_MODEL: smallCheckpoint },
  };
  if (language === 'ts') {
    const script = join(folder, 'example.mjs');
    const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
    writeFileSync(script, ts.transpileModule(code, { compilerOptions }).outputText);
    const { stdout } = await run(process.execPath, [script], options);
    return stdout;
  }
  const bin = join(folder, '.bin');
  mkdirSync(bin);
  writeCommand(join(bin, 'orrery'), `exec "${process.execPath}" "${join(root, 'dist/cli/main.js')}" "$@"`);
  writeCommand(join(bin, 'npx'), 'exec "$@"');
  const env = { ...options.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ''}` };
  const { stdout } = await run('sh', ['-euc', code], { ...options, env });
  return stdout;
}

function writeCommand(path: string, line: string): void {
  writeFileSync(path, `#!/bin/sh\n${line}\n`);
  chmodSync(path, 0o755);
}

function isFilled(path: string): boolean {
  return existsSync(path) && statSync(path).size > 0;
}

export function readExamples(root: string, files: readonly string[]): Example[] {
  return files.flatMap((file) => extractExamples(file, readFileSync(join(root, file), 'utf8')));
}
