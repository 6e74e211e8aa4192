// Where results go and what their extensions ask for, checked before any work starts.
import { accessSync, constants, statSync } from 'node:fs';
import { dirname, extname, resolve } from 'node:path';
import type { Plan } from '../../pipeline/plan-types.js';
import type { GenerationRequest } from '../../pipeline/request.js';
import { RequestError } from '../../protocol/index.js';

/** What can be written. */
export type OutputKind = 'mp4' | 'png' | 'jpeg' | 'webp' | 'wav' | 'json' | 'safetensors';

/** One file to write. */
export interface OutputTarget {
  readonly path: string;
  readonly kind: OutputKind;
}

const kinds: Readonly<Record<string, OutputKind>> = {
  '.mp4': 'mp4',
  '.png': 'png',
  '.jpg': 'jpeg',
  '.jpeg': 'jpeg',
  '.webp': 'webp',
  '.wav': 'wav',
  '.json': 'json',
  '.safetensors': 'safetensors',
};

/** Media types by kind. */
export const mediaTypes: Readonly<Record<OutputKind, string>> = {
  mp4: 'video/mp4',
  png: 'image/png',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  wav: 'audio/wav',
  json: 'application/json',
  safetensors: 'application/octet-stream',
};

/**
 * Targets of the paths given; the extension says what is written.
 * @throws RequestError for a folder, an unknown extension or a path given twice
 */
export function readOutputTargets(paths: readonly string[]): readonly OutputTarget[] {
  const seen = new Set<string>();
  return paths.map((path) => {
    const kind = kinds[extname(path).toLowerCase()];
    if (kind === undefined) {
      if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
        throw new RequestError('invalid_value', 'output', `output ${path} is a folder; add a file name`);
      const known = Object.keys(kinds).join(' ');
      throw new RequestError('invalid_value', 'output', `output ${path} must end in one of ${known}`);
    }
    if (seen.has(resolve(path))) throw new RequestError('conflict', 'output', `output ${path} is given twice`);
    seen.add(resolve(path));
    return { path, kind };
  });
}

/**
 * Checks that the plan makes what each target asks for.
 * @throws RequestError naming the extensions that fit
 */
export function checkTargets(targets: readonly OutputTarget[], plan: Plan): void {
  const fitting = fittingKinds(plan);
  for (const { path, kind } of targets) {
    if (fitting.includes(kind)) continue;
    const why =
      kind === 'wav' ? 'no sound is made (--sound asks for it)' : `${plan.task} makes ${describeResult(plan)}`;
    throw new RequestError(
      'conflict',
      'output',
      `output ${path} cannot be written: ${why}; use ${fitting.map((name) => `.${name === 'jpeg' ? 'jpg' : name}`).join(' ')}`,
    );
  }
}

const pictureKinds: readonly OutputKind[] = ['png', 'jpeg', 'webp'];

/** The request, made text-to-image where it has words alone and is to be written as a picture. */
export function impliedByTargets(request: GenerationRequest, targets: readonly OutputTarget[]): GenerationRequest {
  const { task, image, video, transfer, action, sound, frames = 1, seconds } = request;
  const hasWordsAlone = [task, image, video, transfer, action, seconds].every((given) => given === undefined);
  const isPicture = targets.some(({ kind }) => pictureKinds.includes(kind));
  return hasWordsAlone && isPicture && sound !== true && frames === 1 ? { ...request, task: 'text-to-image' } : request;
}

/** Kinds that a plan's result can be written as, the natural one first. */
export function fittingKinds(plan: Plan): readonly OutputKind[] {
  const always: readonly OutputKind[] = ['json', 'safetensors'];
  if (plan.action?.decodeVideo === false) return always;
  const sound: readonly OutputKind[] = plan.sound === null ? [] : ['wav'];
  if (plan.task === 'text-to-image') return ['png', 'jpeg', 'webp', ...always];
  const still: readonly OutputKind[] = plan.frames === 1 ? ['png', 'jpeg', 'webp'] : [];
  return ['mp4', ...still, ...sound, ...always];
}

function describeResult(plan: Plan): string {
  if (plan.action?.decodeVideo === false) return 'actions only';
  return plan.task === 'text-to-image' ? 'a picture' : `a clip of ${plan.frames} frames`;
}

/**
 * Checks that each target's folder is there and can be written, and that the target is no folder.
 * @throws RequestError naming the folder and the remedy
 */
export function checkWritable(targets: readonly OutputTarget[]): void {
  for (const { path } of targets) {
    const folder = dirname(resolve(path));
    const fail = (why: string): never => {
      throw new RequestError('invalid_value', 'output', `output ${path} cannot be written: ${why}`);
    };
    const status = statSync(folder, { throwIfNoEntry: false });
    if (status === undefined) fail(`folder ${folder} does not exist; create it first`);
    else if (!status.isDirectory()) fail(`${folder} is no folder`);
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) fail('it is a folder; add a file name');
    try {
      accessSync(folder, constants.W_OK);
    } catch {
      fail(`folder ${folder} is not writable; choose another one`);
    }
  }
}
