// Facts for tests of the planner: a checkpoint with the golden tokenizer, and inputs of a given shape.
import { expect } from 'vitest';
import type { CheckpointFacts, Facts, InputFacts } from '../../src/pipeline/facts.js';
import { plan } from '../../src/pipeline/plan.js';
import type { Plan, PlanWarning } from '../../src/pipeline/plan-types.js';
import type { GenerationRequest, HintRequest } from '../../src/pipeline/request.js';
import { RequestError } from '../../src/protocol/request-error.js';
import { loadTokenizer } from '../../src/tokenizer/index.js';
import { goldenFolder } from '../golden/read-case.js';

const tokenizer = loadTokenizer(`${goldenFolder}/tiny-nano/text_tokenizer`);

/** A nano checkpoint with every network and no defaults of its own. */
export function checkpointFacts(changes: Partial<CheckpointFacts> = {}): CheckpointFacts {
  return {
    id: 'tiny-nano',
    family: 'nano',
    tokenizer,
    hasSound: true,
    actionDim: 64,
    domains: 32,
    distilledSigmas: null,
    defaults: {},
    spatialCompression: 16,
    temporalCompression: 4,
    sound: { sampleRate: 48_000, hop: 1920 },
    ...changes,
  };
}

/** An input of width x height; a picture unless frames are given. */
export function inputFacts(width: number, height: number, frames = 1, fps: number | null = null): InputFacts {
  return { sha256: 'f'.repeat(64), width, height, frames, fps };
}

export interface FactChanges extends Partial<Omit<Facts, 'checkpoint'>> {
  readonly checkpoint?: Partial<CheckpointFacts>;
}

export function factsOf({ checkpoint, ...changes }: FactChanges = {}): Facts {
  return { checkpoint: checkpointFacts(checkpoint), image: null, video: null, hints: [], randomSeed: 77, ...changes };
}

/** The plan of a request, "A cat." where it names no prompt. */
export function planOf(request: Partial<GenerationRequest>, facts: FactChanges = {}): Plan {
  return plan({ prompt: 'A cat.', ...request }, factsOf(facts)).plan;
}

/** The warnings of a request. */
export function warningsOf(request: Partial<GenerationRequest>, facts: FactChanges = {}): readonly PlanWarning[] {
  return plan({ prompt: 'A cat.', ...request }, factsOf(facts)).warnings;
}

/** The error of a request that must be refused. */
export function refusalOf(request: Partial<GenerationRequest>, facts: FactChanges = {}): RequestError {
  let error: unknown;
  try {
    planOf(request, facts);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(RequestError);
  if (!(error instanceof RequestError)) throw new Error('not reached');
  return error;
}

const blank = { width: 16, height: 16, frames: 1, fps: null, data: new Uint8Array(768) };

/** A hint with a given map. */
export function givenHint(kind: HintRequest['kind'], more: Partial<HintRequest> = {}): HintRequest {
  return { kind, source: { kind: 'frames', clip: blank }, ...more };
}
