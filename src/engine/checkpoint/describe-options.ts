// Options of a loaded checkpoint in words: those that results depend on, for fingerprints, and those that only people want to know.
import type { Quantization, Tower } from '../../models/cosmos3-transformer/index.js';
import type { MergedLora } from '../../weights/index.js';

/** What results depend on besides device and checkpoint, one entry each; none where nothing was asked for. */
export function describePrecision({
  quantization,
  vaeTiling,
}: {
  readonly quantization?: Quantization | undefined;
  readonly vaeTiling?: boolean | undefined;
}): readonly string[] {
  return [
    ...(quantization === undefined ? [] : [describeQuantization(quantization)]),
    ...(vaeTiling === true ? ['tiled decoder'] : []),
  ];
}

function describeQuantization(quantization: Quantization): string {
  const { format, excludeTowers = [], excludeProjections = [], excludeLayers = [] } = quantization;
  const { wideFirstSteps = 0, wideLastSteps = 0, keepWide = false } = quantization;
  const left = [...excludeTowers, ...excludeProjections, ...excludeLayers];
  const steps = wideFirstSteps + wideLastSteps;
  const wide = `, ${wideFirstSteps} first and ${wideLastSteps} last steps wide${keepWide ? ' with wide weights' : ''}`;
  return `${format} layers${left.length > 0 ? ` but ${left.join(', ')}` : ''}${steps > 0 ? wide : ''}`;
}

/** The merged adapter, if there is one. */
export function describeLora(lora: MergedLora | undefined): readonly string[] {
  return lora === undefined ? [] : [`adapter ${lora.sha256.slice(0, 12)} merged at scale ${lora.scale}`];
}

/** Where weights lie, where that is not on the device alone. */
export function describeOffload(offload: readonly Tower[] = []): readonly string[] {
  if (offload.length === 0) return [];
  return [offload.includes('gen') ? 'layers in host memory' : 'text tower in host memory'];
}
