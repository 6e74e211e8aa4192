// What the flags of the device mean, as an engine is loaded with it.
import { resolve } from 'node:path';
import { syntheticNames } from '../../engine/checkpoint/synthetic-configs.js';
import { readLora } from '../../engine/door/read-lora.js';
import { readOffload, readOffloadConfig } from '../../engine/door/read-offload.js';
import { readQuantization, readQuantizationConfig } from '../../engine/door/read-quantization.js';
import type { LoadOptions } from '../../engine/index.js';
import type { JsonObject } from '../../engine/jobs/types.js';
import { RequestError } from '../../protocol/index.js';
import { isRecord } from '../bodies/json-text.js';
import { type FlagInput, refusalOnCpu, textsOf } from './flags.js';

/** Options that the device process is opened with, as flags give them. */
export type DeviceChoices = Pick<
  LoadOptions,
  'dtype' | 'cudaLibraries' | 'gpu' | 'synthetic' | 'lora' | 'quantization' | 'offload' | 'vaeTiling'
>;

export interface DeviceSettings extends DeviceChoices {
  /** Why the CPU cannot do as the flags say; null where it can. */
  readonly refusalOnCpu: RequestError | null;
}

/**
 * Reads the settings.
 * @param values by the names of flags, each of its flag's type
 * @throws RequestError for values that cannot be, and for flags that say the same in two ways
 */
export function readDeviceSettings(values: FlagInput): DeviceSettings {
  const isOn = (name: string) => values[name] === true;
  if (values.synthetic !== undefined && values.model !== undefined)
    throw new RequestError(
      'conflict',
      'synthetic',
      '--synthetic takes the place of a checkpoint; give it or the model',
    );
  const folders = textsOf(values['cuda-libraries'])
    .flatMap((text) => text.split(':'))
    .filter(Boolean);
  return {
    dtype: (['bf16', 'f32'] as const).find((name) => name === values.dtype),
    cudaLibraries: folders.length > 0 ? folders : undefined,
    gpu: {
      fp8Attention: isOn('fp8-attention'),
      fp8FastAccumulation: isOn('fp8-fast-accumulation'),
      tune: isOn('tune-products'),
    },
    synthetic: syntheticNames.find((name) => name === values.synthetic),
    lora: readLoraFlags(values),
    quantization: readQuantizationFlags(values),
    offload: readOffloadFlags(values),
    vaeTiling: isOn('vae-use-tiling'),
    refusalOnCpu: refusalOnCpu(values),
  };
}

/** What the device process is told; of what is as it is by default nothing. */
export function deviceOptions(settings: DeviceSettings): JsonObject {
  const { dtype, cudaLibraries, gpu, synthetic, lora, quantization, offload, vaeTiling } = settings;
  const { fp8Attention = false, fp8FastAccumulation = false, tune = false } = gpu ?? {};
  return {
    ...(dtype === undefined ? {} : { dtype }),
    ...(cudaLibraries === undefined ? {} : { cudaLibraries: [...cudaLibraries] }),
    ...(fp8Attention || fp8FastAccumulation || tune ? { gpu: { fp8Attention, fp8FastAccumulation, tune } } : {}),
    ...(synthetic === undefined ? {} : { synthetic }),
    ...(lora === undefined ? {} : { lora: { path: lora.path, scale: lora.scale ?? 1 } }),
    ...(quantization === undefined ? {} : { quantization: { ...quantization } }),
    ...(offload === undefined ? {} : { offload: [...offload] }),
    ...(vaeTiling === true ? { vaeTiling } : {}),
  };
}

function readLoraFlags({ 'lora-path': path, 'lora-scale': scale }: FlagInput): DeviceChoices['lora'] {
  return readLora({
    path: typeof path === 'string' ? resolve(path) : undefined,
    scale: typeof scale === 'number' ? scale : undefined,
  });
}

function readQuantizationFlags(values: FlagInput): DeviceChoices['quantization'] {
  const config = values['diffusion-quantization-config'];
  const { quantization: format, 'quantization-wide-steps': wideSteps } = values;
  if (isRecord(config)) {
    const beside = ['quantization-exclude', 'quantization-wide-steps', 'keep-wide'].find((name) => name in values);
    if (beside !== undefined) throw twice('diffusion-quantization-config', beside);
    const read = readQuantizationConfig(config);
    if (format !== undefined && format !== (read?.format ?? 'none'))
      throw twice('diffusion-quantization-config', 'quantization');
    return read;
  }
  return readQuantization({
    format: typeof format === 'string' ? format : undefined,
    exclude: textsOf(values['quantization-exclude']),
    wideSteps: typeof wideSteps === 'string' ? wideSteps : undefined,
    keepWide: values['keep-wide'] === true,
  });
}

function readOffloadFlags(values: FlagInput): DeviceChoices['offload'] {
  const config = values['diffusion-offload-config'];
  const names = ['enable-layerwise-offload', 'release-text-tower', 'enable-cpu-offload'] as const;
  if (isRecord(config)) {
    const beside = names.find((name) => values[name] === true);
    if (beside !== undefined) throw twice('diffusion-offload-config', beside);
    return readOffloadConfig(config);
  }
  const [layerwise, releaseText, releaseHalf] = names.map((name) => values[name] === true);
  return readOffload({ layerwise, releaseText: releaseText === true || releaseHalf === true });
}

function twice(config: string, flag: string): RequestError {
  return new RequestError('conflict', flag, `--${flag} and --${config} say the same in two ways; give one of them`);
}
