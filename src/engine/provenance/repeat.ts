// Making an artifact again from what it says of itself, and comparing.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { fileError, readArtifactMetadata } from '../../media/index.js';
import type { MediaSource } from '../../pipeline/media-source.js';
import type { HintKind } from '../../pipeline/request.js';
import { RequestError } from '../../protocol/index.js';
import { type MergedLora, openSafetensors } from '../../weights/index.js';
import type { OpenedModel } from '../checkpoint/open-model.js';
import { readMediaReference } from '../door/media-reference.js';
import { blameInput } from '../inputs/input-error.js';
import type { InputSources, ProbedInputs } from '../inputs/probe.js';
import type { Artifact } from '../run/events.js';
import { differingFields, type Fingerprint } from './fingerprint.js';
import { type Provenance, readProvenance } from './provenance.js';

/** Inputs given again, for artifacts whose inputs have moved or had no path. */
export interface RepeatOptions {
  readonly image?: MediaSource | undefined;
  readonly video?: MediaSource | undefined;
  readonly controls?: Readonly<Partial<Record<HintKind, MediaSource>>> | undefined;
}

/** An artifact to repeat: where it lies, what it says of itself, and what it is. */
export interface Original {
  readonly path: string;
  readonly provenance: Provenance;
  /** Of the file, so that it may be overwritten. */
  readonly sha256: string;
}

/**
 * Reads an artifact.
 * @throws RequestError when the file is missing or carries no provenance
 */
export async function readOriginal(file: string): Promise<Original> {
  const text = await blameInput('from', () => readText(file));
  const provenance = text === null ? undefined : readProvenance(text);
  if (provenance !== undefined) return { path: file, provenance, sha256: await hashFile(file) };
  const why = text === null ? 'carries no plan' : 'carries something else than a plan of this version';
  throw new RequestError('invalid_media', 'from', `from: ${file} ${why}; give a file that orrery generate wrote`);
}

async function readText(file: string): Promise<string | null> {
  switch (extname(file).toLowerCase()) {
    case '.json':
      return readFile(file, 'utf8').catch((error: unknown) => {
        throw fileError(error, 'read', file);
      });
    case '.safetensors': {
      using tensors = openSafetensors(file);
      return tensors.metadata.orrery ?? null;
    }
    default:
      return readArtifactMetadata(file);
  }
}

/** Where the inputs of a plan are now: given again, else where they were. @throws RequestError when one is nowhere */
export function sourcesOfRepeat({ plan, inputs }: Provenance, options: RepeatOptions): InputSources {
  const find = (name: string, given: MediaSource | undefined, place: string | null | undefined): MediaSource => {
    if (given !== undefined) return given;
    if (place !== null && place !== undefined) return readMediaReference(name, place);
    throw new RequestError(
      'missing_parameter',
      name,
      `${name} is missing: the artifact was made from one that had no path; give it again`,
    );
  };
  const uses = (role: 'image' | 'video') => plan.inputs.some((input) => input.role === role);
  const controls = new Map<HintKind, MediaSource>();
  for (const { kind, computed } of plan.transfer?.hints ?? []) {
    if (!computed) controls.set(kind, find(kind, options.controls?.[kind], inputs.controls[kind]));
  }
  return {
    image: uses('image') ? find('image', options.image, inputs.image) : null,
    video: uses('video') ? find('video', options.video, inputs.video) : null,
    controls,
  };
}

/** Holds the checkpoint, its adapter and the inputs against the plan. @throws RequestError naming what differs */
export function checkRepeatable(
  { plan, lora }: Provenance,
  { facts: checkpoint, checkpoint: { lora: loaded } }: Pick<OpenedModel, 'facts' | 'checkpoint'>,
  probed: ProbedInputs,
): void {
  if (checkpoint.id !== plan.model) {
    throw new RequestError(
      'conflict',
      'model',
      `model ${checkpoint.id} is loaded, the artifact was made with ${plan.model}; give that with --model`,
    );
  }
  if (lora?.sha256 !== loaded?.sha256 || lora?.scale !== loaded?.scale) {
    const describe = (adapter: MergedLora | undefined) =>
      adapter === undefined ? 'no adapter' : `adapter ${adapter.sha256.slice(0, 12)} at scale ${adapter.scale}`;
    const remedy =
      lora === undefined ? 'leave --lora-path out' : `give it with --lora-path FILE --lora-scale ${lora.scale}`;
    throw new RequestError(
      'conflict',
      'lora_path',
      `${describe(loaded)} is loaded, the artifact was made with ${describe(lora)}; ${remedy}`,
    );
  }
  const check = (name: string, found: string | undefined, wanted: string | undefined) => {
    if (found === wanted || wanted === undefined) return;
    const short = (hash = 'none') => hash.slice(0, 12);
    throw new RequestError(
      'conflict',
      name,
      `${name} has changed: its SHA-256 is ${short(found)}, the artifact was made from ${short(wanted)}; give that one`,
    );
  };
  const planned = (role: string) => plan.inputs.filter((input) => input.role === role).map(({ sha256 }) => sha256);
  check('image', probed.image?.facts.sha256, planned('image')[0]);
  check('video', probed.video?.facts.sha256, planned('video')[0]);
  const given = plan.transfer?.hints.filter(({ computed }) => !computed) ?? [];
  for (const [i, { kind }] of given.entries())
    check(kind, probed.controls.get(kind)?.facts.sha256, planned('control')[i]);
}

/** How a repeated artifact compares with the original. */
export interface Comparison {
  /** What equal fingerprints promise: the same bytes; different ones promise the same frames at best. */
  readonly promised: 'bytes' | 'frames';
  /** Fields in which the fingerprints differ. */
  readonly differing: readonly (keyof Fingerprint)[];
  /** Null where neither has frames. */
  readonly framesMatch: boolean | null;
  /** Null where no file of the same kind was written. */
  readonly bytesMatch: boolean | null;
}

/** Compares an artifact with the one it repeats. */
export async function compareWithOriginal(original: Original, artifact: Artifact): Promise<Comparison> {
  const { framesSha256, fingerprint } = original.provenance;
  const differing = differingFields(fingerprint, artifact.fingerprint);
  const extension = extname(original.path).toLowerCase();
  const same = artifact.files.find(({ path }) => extname(path).toLowerCase() === extension);
  return {
    promised: differing.length === 0 ? 'bytes' : 'frames',
    differing,
    framesMatch:
      framesSha256 === null || artifact.framesSha256 === null ? null : framesSha256 === artifact.framesSha256,
    bytesMatch: same === undefined ? null : (await hashFile(same.path)) === original.sha256,
  };
}

async function hashFile(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
}
