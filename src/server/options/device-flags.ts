// Flags of the device: how it computes, how it keeps weights, how it decodes. Most are for GPUs alone.
import { syntheticNames } from '../../engine/checkpoint/synthetic-configs.js';
import { noted, onGpu, type ServeFlag, works } from './serve-flag.js';

const widePrecision =
  'the CPU device computes in 32-bit floats; eight bits need a GPU of compute capability 8.9 or newer';
const mappedWeights = 'weights of the CPU device are mapped files, which leave memory when it is needed';
const noProducts = "the CPU device computes in 32-bit floats and has none of CUDA's products";

const computing: readonly ServeFlag[] = [
  {
    name: 'dtype',
    group: 'Device',
    kind: 'text',
    value: 'NAME',
    choices: ['bf16', 'f32'],
    about: 'What networks compute in on a GPU; bf16 where absent.',
    does: onGpu('the CPU device computes in 32-bit floats', ['f32']),
  },
  {
    name: 'fp8-attention',
    group: 'Device',
    kind: 'switch',
    about: 'Attention over generated rows in FP8: heads of 128 in bf16 on compute capability 9.0, else an error.',
    does: onGpu('the CPU device computes in 32-bit floats'),
  },
  {
    name: 'fp8-fast-accumulation',
    group: 'Device',
    kind: 'switch',
    about: 'Sums of FP8 products keep fewer bits: faster, less exact.',
    does: onGpu(noProducts),
  },
  {
    name: 'tune-products',
    group: 'Device',
    kind: 'switch',
    about: 'Time the algorithms of each product once, and keep the choice beside the kernels.',
    does: onGpu(noProducts),
  },
  {
    name: 'cuda-libraries',
    group: 'Device',
    kind: 'text',
    value: 'FOLDER',
    several: true,
    about: "Folder to look for CUDA's libraries in before all others; several with colons.",
    does: works,
  },
  {
    name: 'synthetic',
    group: 'Device',
    kind: 'text',
    value: 'SIZE',
    choices: syntheticNames,
    about: 'Random weights of full size instead of a checkpoint, for measurements.',
    does: onGpu('random weights of full size take the CPU minutes and all its memory'),
  },
];

const eightBits: readonly ServeFlag[] = [
  {
    name: 'quantization',
    group: 'Device',
    kind: 'text',
    value: 'KIND',
    about: 'fp8 keeps the linear layers of both towers in eight bits; none where absent.',
    does: onGpu(widePrecision, ['none']),
  },
  {
    name: 'quantization-exclude',
    group: 'Device',
    kind: 'text',
    value: 'PART',
    several: true,
    about: 'Layers (numbers from 0), towers (und, gen), projections (qkv, out, gate_up, down) to leave as they are.',
    does: onGpu(widePrecision),
  },
  {
    name: 'quantization-wide-steps',
    group: 'Device',
    kind: 'text',
    value: 'FIRST,LAST',
    about: 'Denoise steps at the start and the end with 16-bit activations, as 1,2.',
    does: onGpu(widePrecision),
  },
  {
    name: 'keep-wide',
    group: 'Device',
    kind: 'switch',
    about: 'Keep 16-bit weights for those steps, instead of making them from eight bits each time.',
    does: onGpu(widePrecision),
  },
  {
    name: 'diffusion-quantization-config',
    group: 'Device',
    kind: 'json',
    value: 'JSON',
    about: 'The four flags as JSON: method, activation_scheme (dynamic), ignored_layers, wide_steps, keep_wide.',
    does: onGpu(widePrecision),
  },
];

const memory: readonly ServeFlag[] = [
  {
    name: 'enable-layerwise-offload',
    group: 'Device',
    kind: 'switch',
    about: 'Keep all layers in host memory; they come to the GPU one ahead of their use.',
    does: onGpu(mappedWeights),
  },
  {
    name: 'release-text-tower',
    group: 'Device',
    kind: 'switch',
    about: 'Keep the layers that read prompts in host memory, and off the GPU in between.',
    does: onGpu(mappedWeights),
  },
  {
    name: 'enable-cpu-offload',
    group: 'Device',
    kind: 'switch',
    about: 'The same as --release-text-tower: of the two halves it is the one that is idle for long.',
    does: onGpu(mappedWeights),
  },
  {
    name: 'diffusion-offload-config',
    group: 'Device',
    kind: 'json',
    value: 'JSON',
    about: 'Offload as JSON: mode (layer, module) and components (dit: all layers; text_encoder: the text tower).',
    does: onGpu(mappedWeights),
  },
  {
    name: 'vae-use-tiling',
    group: 'Device',
    kind: 'switch',
    about: 'Decode frames by tiles: less memory, a little more time, slightly other pixels.',
    does: works,
  },
  {
    name: 'vae-use-slicing',
    group: 'Device',
    kind: 'switch',
    about: 'Decode samples one by one.',
    does: noted('clips are always decoded one by one'),
  },
];

/** Flags that say how the device computes and what it keeps where. */
export const deviceFlags: readonly ServeFlag[] = [...computing, ...eightBits, ...memory];
