// A failure as one line on stderr: what was wrong, its value, what to do. The stack only where it was asked for.
import { readConfig } from '../engine/config.js';
import { RequestError } from '../protocol/index.js';
import { exitCodes } from './exit-codes.js';
import { Interrupted } from './interrupt.js';
import { flagForParameter } from './parameter-flags.js';

/** How a failure is shown. */
export interface FailureOptions {
  readonly debug: boolean;
  /** Also as a JSON line on stdout. */
  readonly json: boolean;
}

/** Reports an error and gives the exit code that it means. */
export function reportFailure(error: unknown, { debug, json }: FailureOptions): number {
  const failure = error instanceof Error ? error : new Error(String(error));
  const { code, line } = describe(failure);
  process.stderr.write(`${line}\n`);
  if (json) printFailure(failure, line);
  if (debug || isDebugSet()) process.stderr.write(`${failure.stack ?? ''}\n`);
  return code;
}

/** An error as a JSON line on stdout; `line` is how people read it. */
export function printFailure(error: Error, line = oneLine(error.message)): void {
  process.stdout.write(`${JSON.stringify(describeAsJson(error, line))}\n`);
}

function describe(error: Error): { readonly code: number; readonly line: string } {
  if (error instanceof Interrupted) {
    return { code: error.isTermination ? exitCodes.terminated : exitCodes.interrupted, line: 'stopped' };
  }
  const message = oneLine(error.message);
  if (error instanceof RequestError && error.code === 'prompt_blocked') {
    const remedy = `change the prompt, or turn the check off: --extra-body '{"guardrails": false}'`;
    return { code: exitCodes.usage, line: `error: ${message.replace(/\.$/, '')}: ${remedy}` };
  }
  if (error instanceof RequestError) return { code: exitCodes.usage, line: `error: ${nameFlag(error, message)}` };
  // The engine's own errors carry a remedy; what the language throws is a defect, and only a stack helps there.
  const isDefect = ['TypeError', 'ReferenceError', 'SyntaxError', 'AssertionError'].includes(error.name);
  const line = isDefect ? `internal error: ${message}; run again with --debug for details` : `error: ${message}`;
  return { code: exitCodes.failed, line };
}

function nameFlag({ param }: RequestError, message: string): string {
  const flag = param === null ? undefined : flagForParameter(param);
  return flag !== undefined && param !== null && message.startsWith(`${param} `)
    ? flag + message.slice(param.length)
    : message;
}

function describeAsJson(error: Error, line: string): object {
  const request = error instanceof RequestError ? { code: error.code, param: error.param } : {};
  return { type: 'error', ...request, message: line.replace(/^(internal )?error: /, '') };
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ').trim();
}

function isDebugSet(): boolean {
  try {
    return readConfig().debug;
  } catch {
    return false;
  }
}
