import { describe, expect, it } from 'vitest';
import { openCheckpoint } from '../../weights/index.js';
import { checkDeviceOptions, checkModelOptions, checkSteps } from './check-options.js';
import { findDefaultCheckpoint } from './default-checkpoint.js';

describe('checkDeviceOptions', () => {
  it.each([
    [
      { quantization: { format: 'fp8' } },
      '--quantization is not available on the device cpu: it computes in 32-bit floats',
    ],
    [
      { offload: ['und'] },
      'as --release-text-tower, is not available on the device cpu: weights are mapped files there',
    ],
    [{ gpu: { fp8Attention: true } }, '--fp8-attention is not available on the device cpu'],
    [{ gpu: { tune: true } }, '--tune-products is not available on the device cpu'],
  ] as const)('refuses on the CPU what a GPU takes: %j', (options, message) => {
    expect(() => checkDeviceOptions('cpu', options)).toThrow(message);
    expect(() => checkDeviceOptions('cuda:0', options)).not.toThrow();
  });

  it('refuses everywhere what says nothing by itself', () => {
    const gpu = { fp8FastAccumulation: true };
    for (const device of ['cpu', 'cuda:1'] as const)
      expect(() => checkDeviceOptions(device, { gpu })).toThrow('add --quantization fp8');
    expect(() => checkDeviceOptions('cuda:0', { gpu, quantization: { format: 'fp8' } })).not.toThrow();
  });

  it('takes options that ask for nothing', () => {
    expect(() => checkDeviceOptions('cpu', { gpu: { tune: false }, offload: [] })).not.toThrow();
  });
});

it('a quantisation must be one of the checkpoint', () => {
  using checkpoint = openCheckpoint(findDefaultCheckpoint());
  const check = (excludeLayers: readonly number[]) => checkModelOptions(checkpoint, { format: 'fp8', excludeLayers });
  expect(() => check([0])).not.toThrow();
  expect(() => check([99])).toThrow(
    expect.objectContaining({
      name: 'RequestError',
      message: expect.stringContaining('excludeLayers: 99; this network has'),
    }),
  );
  expect(() => checkModelOptions(checkpoint, undefined)).not.toThrow();
});

it('a job must have steps that are quantised', () => {
  const quantization = { format: 'fp8', wideFirstSteps: 1, wideLastSteps: 2 } as const;
  expect(() => checkSteps(4, quantization)).not.toThrow();
  expect(() => checkSteps(3, quantization)).toThrow(
    expect.objectContaining({ code: 'invalid_value', param: 'num_inference_steps' }),
  );
  expect(() => checkSteps(3, null)).not.toThrow();
});
