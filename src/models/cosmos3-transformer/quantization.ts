// Which linear layers keep their weights in eight bits, and in which steps they are used so.
import type { LinearFormat } from '../../nn/linear.js';
import type { TransformerConfig } from './config.js';

export type Tower = 'und' | 'gen';
/** The merged projections of a layer; `gate_up` is the up projection alone where the network has no gate. */
export type Projection = 'qkv' | 'out' | 'gate_up' | 'down';

export const projections: readonly Projection[] = ['qkv', 'out', 'gate_up', 'down'];

/** Embeddings, heads, the time embedder and norms are never quantised. */
export interface Quantization {
  readonly format: 'fp8';
  readonly excludeTowers?: readonly Tower[];
  /** Layers count from 0. */
  readonly excludeLayers?: readonly number[];
  readonly excludeProjections?: readonly Projection[];
  /** Denoise steps at the start, and at the end, that run without quantised activations. */
  readonly wideFirstSteps?: number;
  readonly wideLastSteps?: number;
  /** Keeps the unquantised weights for those steps; else they are widened from FP8 a layer at a time. */
  readonly keepWide?: boolean;
}

/** A quantisation that cannot be done, or would do nothing. */
export class QuantizationError extends Error {
  override readonly name = 'QuantizationError';
  /** @param option the name in `Quantization`, or `quantization` as a whole. */
  constructor(
    readonly option: keyof Quantization | 'quantization',
    message: string,
  ) {
    super(`${option}: ${message}`);
  }
}

const wideSteps = ({ wideFirstSteps = 0, wideLastSteps = 0 }: Quantization) => wideFirstSteps + wideLastSteps;

/**
 * Checks a quantisation against a network.
 * @throws QuantizationError for layers that are not there, counts that are none, and where every linear layer is excluded
 */
export function checkQuantization(quantization: Quantization, { layers }: Pick<TransformerConfig, 'layers'>): void {
  const { excludeLayers = [], excludeProjections = [], excludeTowers = [] } = quantization;
  for (const layer of excludeLayers)
    if (!Number.isInteger(layer) || layer < 0 || layer >= layers)
      throw new QuantizationError('excludeLayers', `${layer}; this network has layers 0 to ${layers - 1}`);
  for (const name of excludeProjections)
    if (!projections.includes(name))
      throw new QuantizationError('excludeProjections', `${name}; projections are ${projections.join(', ')}`);
  for (const option of ['wideFirstSteps', 'wideLastSteps'] as const) {
    const count = quantization[option] ?? 0;
    if (!Number.isInteger(count) || count < 0)
      throw new QuantizationError(option, `${count}; steps are counted from 0`);
  }
  const all = [
    [new Set(excludeLayers).size === layers, 'every layer'],
    [projections.every((name) => excludeProjections.includes(name)), 'every projection'],
    [excludeTowers.includes('und') && excludeTowers.includes('gen'), 'both towers'],
  ].flatMap(([excluded, what]) => (excluded ? [what] : []));
  if (all.length > 0)
    throw new QuantizationError(
      'quantization',
      `${quantization.format} with ${all.join(' and ')} excluded quantises nothing`,
    );
}

/** How each linear layer of one tower in one layer keeps its weight. */
export function linearFormats(
  quantization: Quantization | null,
  tower: Tower,
  layer: number,
): Readonly<Record<Projection, LinearFormat>> {
  const format = (projection: Projection): LinearFormat => {
    const isLeft =
      quantization === null ||
      quantization.excludeTowers?.includes(tower) ||
      quantization.excludeLayers?.includes(layer) ||
      quantization.excludeProjections?.includes(projection);
    if (isLeft) return { format: 'dense', keepWide: false };
    // The text tower runs once a prompt, before any step.
    const keepWide = tower === 'gen' && (quantization.keepWide ?? false) && wideSteps(quantization) > 0;
    return { format: quantization.format, keepWide };
  };
  return { qkv: format('qkv'), out: format('out'), gate_up: format('gate_up'), down: format('down') };
}

/**
 * Whether each of `steps` denoise steps runs wide.
 * @throws QuantizationError where all would, and the quantisation would do nothing
 */
export function planWideSteps(quantization: Quantization | null, steps: number): readonly boolean[] {
  if (quantization === null) return Array.from({ length: steps }, () => false);
  const { wideFirstSteps = 0, wideLastSteps = 0 } = quantization;
  if (steps > 0 && wideFirstSteps + wideLastSteps >= steps)
    throw new QuantizationError(
      'quantization',
      `${quantization.format} with ${wideFirstSteps} first and ${wideLastSteps} last steps wide quantises none of ${steps} steps`,
    );
  return Array.from({ length: steps }, (_, i) => i < wideFirstSteps || i >= steps - wideLastSteps);
}
