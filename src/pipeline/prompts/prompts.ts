// The words of a plan: what the caller wrote, with the sentences, directives and system messages that the networks were
// trained with. Source: api spec, 2.6, S.1 to S.3.
import type { Warn } from '../plan/ranges.js';
import type { GenerationRequest, HintKind, NegativeMetadataMode, Task } from '../request.js';
import { actionCaption, withView } from './action-prompt.js';
import { type ClipFacts, rewriteJsonPrompt } from './json-prompt.js';
import { formatFixed, strip, stripDots, stripEnd } from './python-text.js';

const systemPrompts = {
  video: 'You are a helpful assistant who will generate videos from a give prompt.',
  image: 'You are a helpful assistant who will generate images from a give prompt.',
  transfer:
    "You are a helpful assistant that generates images or videos following the user's instructions and control signals (edge maps, blur, depth, or segmentation).",
} as const;

/** What the words depend on besides the request. */
export interface PromptFacts extends ClipFacts {
  readonly task: Task;
  /** Active hints in their fixed order; empty outside transfer. */
  readonly hints: readonly HintKind[];
  /** Sentence of the camera; null outside the action tasks. */
  readonly view: string | null;
}

export interface PromptTexts {
  /** null: no system turn. */
  readonly system: string | null;
  readonly positive: string;
  readonly negative: string;
}

/**
 * Formats prompt, negative prompt and system message of a request.
 * @throws RequestError for an aspect ratio that is none
 */
export function formatPrompts(request: GenerationRequest, facts: PromptFacts, warn: Warn): PromptTexts {
  const isRaw = request.reference?.rawPrompt ?? false;
  const isTransfer = facts.task === 'transfer';
  const sentences = isTransfer && !isRaw;
  const isImage = facts.task === 'text-to-image';
  const resolution = request.useResolutionTemplate ?? sentences;
  const duration = (request.useDurationTemplate ?? sentences) && !isImage;
  const metadata: Metadata = { ...facts, isImage, resolution, duration, wholeSeconds: facts.view !== null };
  const verbatim = isRaw && !resolution && !duration;

  let positive = positiveText(request, facts, { metadata, isRaw, verbatim }, warn);
  if (isTransfer && (request.transfer?.emphasizeControl ?? !isRaw))
    positive = `${stripEnd(positive)} ${controlDirective(facts.hints)}`;
  const suffix = request.promptSuffix ?? '';
  if (suffix !== '') positive = positive === '' || /^\s/.test(suffix) ? positive + suffix : `${positive} ${suffix}`;

  const mode = request.negativeMetadataMode ?? (isTransfer ? 'same' : 'inverse');
  const given = request.negativePrompt ?? '';
  const negative = verbatim ? given : withMetadata(given, metadata, mode);
  return { system: systemText(request, facts.task, warn), positive, negative };
}

interface Format {
  readonly metadata: Metadata;
  readonly isRaw: boolean;
  readonly verbatim: boolean;
}

function positiveText(
  request: GenerationRequest,
  facts: PromptFacts,
  { metadata, isRaw, verbatim }: Format,
  warn: Warn,
): string {
  const { prompt, action } = request;
  if (!isRaw) {
    const rewritten = rewriteJsonPrompt(prompt, facts, request.aspectRatio, warn);
    if (rewritten !== null) return rewritten;
  }
  if (facts.view !== null) {
    if (action?.promptAsJson ?? !isRaw) return actionCaption(prompt, facts.view, facts);
    if (action?.viewPoint !== undefined) return withMetadata(withView(prompt, facts.view), metadata, 'positive');
  }
  return verbatim ? prompt : withMetadata(prompt, metadata, 'positive');
}

interface Metadata extends ClipFacts {
  readonly isImage: boolean;
  /** Whether the sentences of resolution and of duration and fps are wanted. */
  readonly resolution: boolean;
  readonly duration: boolean;
  /** Action clips state their duration cut to whole seconds. */
  readonly wholeSeconds: boolean;
}

/**
 * A text with the wanted sentences behind it: trailing dots go, parts are joined by ". ". Without sentences the text is only
 * stripped. In a positive prompt a single frame has no duration.
 */
function withMetadata(text: string, metadata: Metadata, mode: NegativeMetadataMode | 'positive'): string {
  const { resolution, duration, frames } = metadata;
  if (mode === 'none' || !(resolution || duration)) return strip(text);
  const not = mode === 'inverse' ? ' not' : '';
  const parts = [strip(stripDots(strip(text)))];
  if (duration && (frames > 1 || mode !== 'positive')) parts.push(durationSentence(metadata, not));
  if (resolution) parts.push(resolutionSentence(metadata, not));
  const filled = parts.filter((part) => part !== '');
  return filled.length === 0 ? '' : `${filled.join('. ')}.`;
}

function durationSentence({ frames, fps, wholeSeconds }: Metadata, not: string): string {
  const seconds = wholeSeconds ? Math.trunc(frames / fps) : frames / fps;
  return `The video is${not} ${formatFixed(seconds, 1)} seconds long and is${not} of ${formatFixed(fps, 0)} FPS`;
}

function resolutionSentence({ isImage, canvas }: Metadata, not: string): string {
  return `This ${isImage ? 'image' : 'video'} is${not} of ${canvas.height}x${canvas.width} resolution`;
}

function controlDirective(hints: readonly HintKind[]): string {
  const names = hints.join(', ');
  return `Follow the ${names} control video precisely: shape, contour, silhouette, position, and motion of every visible structure must align with the ${names} signal at every frame.`;
}

function systemText({ useSystemPrompt, systemPrompt }: GenerationRequest, task: Task, warn: Warn): string | null {
  if (task === 'transfer') {
    if (useSystemPrompt === false || systemPrompt)
      warn('system_prompt', 'transfer always uses its own system prompt; yours is ignored');
    return systemPrompts.transfer;
  }
  if (useSystemPrompt ?? task === 'video-to-video')
    return systemPrompt || systemPrompts[task === 'text-to-image' ? 'image' : 'video'];
  if (systemPrompt) warn('system_prompt', 'system_prompt is ignored; set use_system_prompt to true to use it');
  return null;
}
