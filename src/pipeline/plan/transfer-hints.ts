// Control hints of a transfer: their order, weights and presets. Source: api spec, 3.2.
import type { InputFacts } from '../facts.js';
import type { PlannedHint } from '../plan-types.js';
import { type ControlPreset, type HintRequest, hintKinds, isComputedKind } from '../request.js';
import { refuse, type Warn } from './ranges.js';

/** A hint of the request with what was found out about its map. */
export interface Hint extends HintRequest {
  readonly facts: InputFacts | null;
}

const controlPresets: readonly string[] = ['none', 'very_low', 'low', 'medium', 'high', 'very_high'];

/** Hints in their fixed order. @throws RequestError for a kind given twice */
export function orderHints(hints: readonly HintRequest[], facts: readonly (InputFacts | null)[]): Hint[] {
  const known = hints.map((hint, i): Hint => ({ ...hint, facts: hint.source ? (facts[i] ?? null) : null }));
  const ordered = hintKinds.flatMap((kind) => {
    const same = known.filter((hint) => hint.kind === kind);
    if (same.length > 1)
      refuse('conflict', kind, `transfer hint '${kind}' was given ${same.length} times; give each hint once`);
    return same;
  });
  return ordered;
}

/** Weights that sum to 1. @throws RequestError for weights that cannot */
export function normaliseWeights(hints: readonly Hint[]): number[] {
  const weights = hints.map(({ kind, weight = 1 }) => {
    if (Number.isFinite(weight) && weight >= 0) return weight;
    return refuse(
      'invalid_value',
      kind,
      `Cosmos3 transfer hint '${kind}' control_weight must be finite and non-negative, got ${weight}. Give e.g. 1`,
    );
  });
  const sum = weights.reduce((total, weight) => total + weight, 0);
  if (!(sum > 0 && Number.isFinite(sum)))
    refuse(
      'invalid_value',
      hints[0]?.kind ?? 'control_weight',
      `Cosmos3 transfer control_weight values must have a positive sum. Got ${weights.join(' + ')}; raise one of them`,
    );
  return weights.map((weight) => weight / sum);
}

/** Settles one hint: given, or computed from the video. @throws RequestError when it can be neither */
export function planHint(
  { kind, source, preset, facts }: Hint,
  { weight, hasVideo }: { readonly weight: number; readonly hasVideo: boolean },
  warn: Warn,
): PlannedHint {
  const canCompute = isComputedKind(kind);
  const field = kind === 'edge' ? 'preset_edge_threshold' : 'preset_blur_strength';
  if (preset !== undefined) checkPreset(kind, preset, canCompute);
  if (source) {
    if (!facts || facts.frames < 1)
      refuse(
        'invalid_media',
        kind,
        `Cosmos3 transfer hint '${kind}' produced no frames. Give a picture or clip with at least one`,
      );
    if (preset !== undefined) warn(kind, `${field} is ignored: the ${kind} map is given, not computed`);
    return { kind, computed: false, weight, preset: 'none' };
  }
  if (!canCompute)
    refuse(
      'missing_parameter',
      kind,
      `Cosmos3 transfer hint '${kind}' requires a precomputed control_path; on-the-fly generation is supported only for edge and blur. Give the map`,
    );
  if (!hasVideo)
    refuse(
      'missing_parameter',
      kind,
      `Cosmos3 transfer hint '${kind}' requires either a video input for on-the-fly control generation or a precomputed control_path. Give one of them`,
    );
  return { kind, computed: true, weight, preset: preset ?? 'medium' };
}

function checkPreset(kind: HintRequest['kind'], preset: ControlPreset, canCompute: boolean): void {
  if (!canCompute)
    refuse(
      'unknown_parameter',
      kind,
      `Unsupported Cosmos3 transfer hint '${kind}' fields: ['preset']. Supported fields are: ['control', 'control_path', 'control_weight']. Drop the preset`,
    );
  if (!controlPresets.includes(preset))
    refuse(
      'invalid_value',
      kind,
      `Unsupported Cosmos3 ${kind} preset: '${preset}'. Give one of ${controlPresets.join(', ')}`,
    );
}
