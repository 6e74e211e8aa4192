// Options that only one kind of device has: refused where they would do nothing, before anything is opened.
import {
  checkQuantization,
  parseTransformerConfig,
  planWideSteps,
  type Quantization,
  QuantizationError,
  type Tower,
} from '../../models/cosmos3-transformer/index.js';
import { RequestError } from '../../protocol/index.js';
import type { Checkpoint } from '../../weights/index.js';
import type { DeviceName, GpuChoices } from '../loader.js';

/** Options that depend on the device. */
export interface DeviceDependentOptions {
  readonly quantization?: Quantization | undefined;
  readonly offload?: readonly Tower[] | undefined;
  readonly gpu?: GpuChoices | undefined;
}

/** @throws RequestError for an option that the device does not have, and for one that says nothing without another */
export function checkDeviceOptions(
  device: DeviceName,
  { quantization, offload = [], gpu = {} }: DeviceDependentOptions,
): void {
  if (gpu.fp8FastAccumulation === true && quantization === undefined)
    throw new RequestError(
      'missing_parameter',
      'quantization',
      '--fp8-fast-accumulation says nothing without FP8 products; add --quantization fp8',
    );
  if (device !== 'cpu') return;
  const refuse = (param: string, why: string, flags = `--${param.replaceAll('_', '-')}`): never => {
    throw new RequestError('unsupported', param, `${flags} is not available on the device cpu: ${why}; leave it out`);
  };
  if (quantization !== undefined)
    refuse('quantization', 'it computes in 32-bit floats, FP8 needs a GPU of compute capability 8.9 or newer');
  if (offload.length > 0)
    refuse(
      'offload',
      'weights are mapped files there, and leave memory when it is needed',
      '--enable-layerwise-offload, as --release-text-tower,',
    );
  if (gpu.fp8Attention === true) refuse('fp8_attention', 'it computes in 32-bit floats');
  if (gpu.tune === true) refuse('tune_products', "it has no library's algorithms to choose from");
}

/** @throws RequestError for a quantisation of layers that the checkpoint does not have, and for one that quantises nothing */
export function checkModelOptions(checkpoint: Checkpoint, quantization: Quantization | null | undefined): void {
  if (!quantization) return;
  const part = checkpoint.part('transformer');
  blame('quantization', () => checkQuantization(quantization, parseTransformerConfig(part.config, part.path)));
}

/** @throws RequestError for a job all of whose steps run wide, so that nothing would be quantised */
export function checkSteps(steps: number, quantization: Quantization | null | undefined): void {
  if (quantization) blame('num_inference_steps', () => planWideSteps(quantization, steps));
}

/** Runs a check whose errors are the caller's. */
function blame(param: string, check: () => unknown): void {
  try {
    check();
  } catch (error) {
    throw error instanceof QuantizationError ? new RequestError('invalid_value', param, error.message) : error;
  }
}
