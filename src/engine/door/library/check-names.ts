// Names of a request in the engine's words: one that is not known is an error, since the value would silently do nothing.
import type {
  ActionRequest,
  GenerationRequest,
  HintRequest,
  ReferenceSettings,
  StepCacheRequest,
  TransferRequest,
} from '../../../pipeline/request.js';
import { nearestName, RequestError } from '../../../protocol/index.js';
import { isRecord } from '../read-values.js';

/** Every name of a type, so that the compiler tells when one is missing here. */
type Names<T> = Readonly<Record<keyof Required<T>, true>>;

const requestNames: Names<GenerationRequest> = {
  task: true,
  prompt: true,
  negativePrompt: true,
  image: true,
  video: true,
  width: true,
  height: true,
  resolution: true,
  aspectRatio: true,
  frames: true,
  seconds: true,
  fps: true,
  steps: true,
  guidance: true,
  guidanceInterval: true,
  flowShift: true,
  seed: true,
  draw: true,
  maxSequenceLength: true,
  useResolutionTemplate: true,
  useDurationTemplate: true,
  negativeMetadataMode: true,
  useSystemPrompt: true,
  systemPrompt: true,
  promptSuffix: true,
  sound: true,
  soundDuration: true,
  conditionFrames: true,
  conditionKeep: true,
  transfer: true,
  action: true,
  skipSteps: true,
  skipMode: true,
  stepCache: true,
  guidanceEvery: true,
  reference: true,
};

const transferNames: Names<TransferRequest> = {
  hints: true,
  controlGuidance: true,
  controlGuidanceInterval: true,
  chunkFrames: true,
  conditionalFrames: true,
  firstChunkConditionalFrames: true,
  maxFrames: true,
  showControlCondition: true,
  showInput: true,
  shareTemporalPositions: true,
  emphasizeControl: true,
  attention: true,
};

const hintNames: Names<HintRequest> = { kind: true, source: true, weight: true, preset: true };

const actionNames: Names<ActionRequest> = {
  domainName: true,
  domainId: true,
  rawActionDim: true,
  chunk: true,
  fps: true,
  actions: true,
  history: true,
  viewPoint: true,
  promptAsJson: true,
  actionsOnly: true,
};

const stepCacheNames: Names<StepCacheRequest> = {
  kind: true,
  threshold: true,
  warmupSteps: true,
  maxConsecutive: true,
  coefficients: true,
  power: true,
};

const referenceNames: Names<ReferenceSettings> = {
  grid: true,
  karras: true,
  solverOrder: true,
  solverVariant: true,
  rawPrompt: true,
  untrimmedSound: true,
};

/**
 * Checks the names of a request and of its parts; values are checked where they are read.
 * @throws RequestError `unknown_parameter`, with the nearest name that is known
 */
export function checkNames(request: Readonly<Record<string, unknown>>): void {
  check(request, requestNames, '');
  check(request.transfer, transferNames, 'transfer.');
  const hints = isRecord(request.transfer) ? request.transfer.hints : undefined;
  if (Array.isArray(hints)) for (const [i, hint] of hints.entries()) check(hint, hintNames, `transfer.hints[${i}].`);
  check(request.action, actionNames, 'action.');
  check(request.stepCache, stepCacheNames, 'stepCache.');
  check(request.reference, referenceNames, 'reference.');
}

function check(part: unknown, names: Readonly<Record<string, true>>, place: string): void {
  if (!isRecord(part)) return;
  const unknown = Object.keys(part).find((name) => part[name] !== undefined && !Object.hasOwn(names, name));
  if (unknown === undefined) return;
  const known = Object.keys(names);
  const nearest =
    nearestName(unknown, known) ?? known.find((name) => unknown.startsWith(name) || name.startsWith(unknown));
  const hint = nearest === undefined ? `; there are ${known.join(', ')}` : `; did you mean ${place}${nearest}?`;
  throw new RequestError('unknown_parameter', `${place}${unknown}`, `a request has no field ${place}${unknown}${hint}`);
}
