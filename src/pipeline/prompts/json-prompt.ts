// Structured prompts: a prompt that is a JSON object gets the facts of the clip written into it. Source: api spec, 2.6.

import type { Warn } from '../plan/ranges.js';
import type { Size } from '../plan-types.js';
import { nearestLabel, parseAspect } from './aspect-labels.js';
import { dumpJson, jsonFloat, jsonInteger, jsonObject, jsonString, parseJsonObject } from './python-json.js';

/** What the metadata of a prompt states. */
export interface ClipFacts {
  readonly canvas: Size;
  readonly frames: number;
  readonly fps: number;
}

/**
 * Rewrites a JSON object prompt: duration and fps of a clip (removed for a single frame), resolution, and the aspect ratio
 * where the request or the prompt names one. Keys keep their place, new ones come last; formatted as Python's json.dumps.
 * @param aspectRatio The request's, "16,9" or "16:9".
 * @returns null when the prompt is no JSON object
 * @throws RequestError for an aspect ratio of the request that is none
 */
export function rewriteJsonPrompt(
  prompt: string,
  { canvas, frames, fps }: ClipFacts,
  aspectRatio: string | undefined,
  warn: Warn,
): string | null {
  const object = parseJsonObject(prompt);
  if (!object) return null;
  const { entries } = object;
  if (frames > 1) {
    entries.set('duration', jsonString(`${Math.trunc(frames / fps)}s`));
    entries.set('fps', jsonFloat(fps));
  } else {
    entries.delete('duration');
    entries.delete('fps');
  }
  entries.set('resolution', jsonObject({ H: jsonInteger(canvas.height), W: jsonInteger(canvas.width) }));
  const written = entries.get('aspect_ratio');
  const label = aspectRatio ?? (written?.kind === 'string' ? written.value : written && dumpJson(written));
  if (label !== undefined) {
    if (aspectRatio !== undefined) parseAspect(aspectRatio);
    entries.set('aspect_ratio', jsonString(fittingLabel(label, canvas, warn)));
  }
  return dumpJson(object);
}

/** The label itself where it fits the canvas, else the nearest trained one, with a warning. */
function fittingLabel(label: string, canvas: Size, warn: Warn): string {
  const nearest = nearestLabel(canvas);
  const [width = 0, height = 0] = label.split(/[,:]/).map(Number);
  const plain = `${width},${height}`;
  const shape = (width / height) * (canvas.height / canvas.width);
  if (plain === nearest || Math.abs(shape - 1) < 0.01) return plain;
  const { width: w, height: h } = canvas;
  warn(
    'aspect_ratio',
    `aspect_ratio '${label}' conflicts with the ${w}x${h} canvas; the prompt says '${nearest}' instead`,
  );
  return nearest;
}
