// Finds out what planning needs to know of a request's inputs. Nothing is decoded yet.
import { randomInt } from 'node:crypto';
import type { CheckpointFacts, Facts } from '../../pipeline/facts.js';
import type { MediaSource } from '../../pipeline/media-source.js';
import type { GenerationRequest, HintKind } from '../../pipeline/request.js';
import type { InputPlaces } from '../provenance/provenance.js';
import { blameInput } from './input-error.js';
import { type AcceptedInput, type InputTools, type OpenedInput, openInput } from './opened-input.js';

/** The inputs of a request, probed. */
export interface ProbedInputs extends AsyncDisposable {
  readonly image: OpenedInput | null;
  readonly video: OpenedInput | null;
  readonly controls: ReadonlyMap<HintKind, OpenedInput>;
  /** Where they came from, for the artifact. */
  readonly places: Omit<InputPlaces, 'model'>;
}

/** Sources of a request, by role. */
export interface InputSources {
  readonly image: MediaSource | null;
  readonly video: MediaSource | null;
  readonly controls: ReadonlyMap<HintKind, MediaSource>;
}

/** The sources that a request names. */
export function sourcesOf(request: GenerationRequest): InputSources {
  const controls = new Map<HintKind, MediaSource>();
  for (const { kind, source } of request.transfer?.hints ?? []) if (source !== undefined) controls.set(kind, source);
  return { image: request.image ?? null, video: request.video ?? null, controls };
}

/**
 * Opens and measures all inputs.
 * @throws RequestError naming the input that is missing, damaged or of the wrong kind
 */
export async function probeInputs(sources: InputSources, tools: InputTools): Promise<ProbedInputs> {
  const opened: OpenedInput[] = [];
  const closeAll = async () => {
    for (const input of opened) await input[Symbol.asyncDispose]();
  };
  const open = async (name: string, source: MediaSource, accepted: AcceptedInput) => {
    const input = await blameInput(name, () => openInput(name, source, accepted, tools));
    opened.push(input);
    return input;
  };
  try {
    const image = sources.image && (await open('image', sources.image, 'image'));
    const video = sources.video && (await open('video', sources.video, 'video'));
    const controls = new Map<HintKind, OpenedInput>();
    for (const [kind, source] of sources.controls) controls.set(kind, await open(kind, source, 'either'));
    return { image, video, controls, places: describePlaces(sources), [Symbol.asyncDispose]: closeAll };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** The facts that planning needs. A seed is drawn for requests that state none. */
export function makeFacts(request: GenerationRequest, checkpoint: CheckpointFacts, inputs: ProbedInputs): Facts {
  return {
    checkpoint,
    image: inputs.image?.facts ?? null,
    video: inputs.video?.facts ?? null,
    hints: (request.transfer?.hints ?? []).map(({ kind }) => inputs.controls.get(kind)?.facts ?? null),
    randomSeed: randomInt(2 ** 31),
  };
}

function describePlaces({ image, video, controls }: InputSources): Omit<InputPlaces, 'model'> {
  return {
    image: describePlace(image),
    video: describePlace(video),
    controls: Object.fromEntries([...controls].map(([kind, source]) => [kind, describePlace(source)])),
  };
}

function describePlace(source: MediaSource | null): string | null {
  if (source?.kind === 'file') return source.path;
  // Data URLs are the content itself, and too long to repeat.
  return source?.kind === 'url' && !source.url.startsWith('data:') ? source.url : null;
}
