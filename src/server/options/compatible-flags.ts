// Flags of the original interface that change nothing here, or that this server cannot obey, each with the reason.
import { noted, only, refused, type ServeFlag } from './serve-flag.js';

const oneDevice = 'one device serves a model so far; start one server for each device';
const noDivision =
  'one host holds all weights; --enable-layerwise-offload keeps them in its memory and streams them to the GPU';
const oneAttention = 'kernels are chosen by shape and GPU; --fp8-attention asks for the one in FP8';
const noCompiler = 'there is no compiler of models; kernels of a GPU are compiled once and kept';

const operation: readonly ServeFlag[] = [
  {
    name: 'omni',
    group: 'Operation',
    kind: 'switch',
    about: 'Entry point for generation.',
    does: noted('this server has no other entry point'),
  },
  {
    name: 'stage-init-timeout',
    group: 'Operation',
    kind: 'number',
    value: 'SECONDS',
    minimum: 1,
    about: 'Start-up limit of one stage.',
    does: noted('there is one stage; --init-timeout is its limit'),
  },
  {
    name: 'enable-request-id-headers',
    group: 'Operation',
    kind: 'switch',
    about: 'X-Request-Id in every reply.',
    does: noted('every reply has it'),
  },
  {
    name: 'enable-diffusion-pipeline-profiler',
    group: 'Operation',
    kind: 'switch',
    about: 'Fill stage_durations.',
    does: noted('they are always filled'),
  },
  {
    name: 'api-server-count',
    group: 'Operation',
    kind: 'integer',
    value: 'N',
    about: 'Server processes.',
    does: only(['1'], 'one process answers all clients'),
  },
  {
    name: 'deploy-config',
    group: 'Operation',
    kind: 'text',
    value: 'FILE',
    about: 'Stages of a deployment.',
    does: refused('a model is one stage here; --config takes the flags from a file'),
  },
  {
    name: 'enable-sleep-mode',
    group: 'Operation',
    kind: 'switch',
    about: 'Routes that unload weights.',
    does: refused('stop the server to free the device; the next start takes up the jobs that wait'),
  },
  {
    name: 'step-execution',
    group: 'Operation',
    kind: 'switch',
    about: 'Steps of several requests in turn.',
    does: refused('requests run one after the other'),
  },
  {
    name: 'request-batch-max-wait-ms',
    group: 'Operation',
    kind: 'integer',
    value: 'MS',
    about: 'Wait for requests to batch.',
    does: only(['0'], 'requests run one after the other'),
  },
  {
    name: 'video-output-transport',
    group: 'Operation',
    kind: 'text',
    value: 'NAME',
    about: 'How frames travel.',
    does: only(['auto'], 'the device process writes the files itself'),
  },
];

const model: readonly ServeFlag[] = [
  {
    name: 'model-class-name',
    group: 'Model',
    kind: 'text',
    value: 'NAME',
    about: 'Pipeline class.',
    does: only(['Cosmos3OmniDiffusersPipeline'], 'this is the pipeline that is served'),
  },
  {
    name: 'additional-config',
    group: 'Model',
    kind: 'json',
    value: 'JSON',
    about: 'Mixed precision of quantised checkpoints.',
    does: refused('--quantization-exclude names layers that stay wide, --quantization-wide-steps steps'),
  },
  {
    name: 'lora-backend',
    group: 'Model',
    kind: 'text',
    value: 'NAME',
    about: 'How adapters are applied.',
    does: only(['auto', 'merge'], 'an adapter (--lora-path) is merged into the weights as they are read'),
  },
  {
    name: 'boundary-ratio',
    group: 'Model',
    kind: 'number',
    value: 'R',
    about: 'Boundary between two transformers.',
    does: refused('this model has one transformer; nothing depends on it'),
  },
];

const parallel = (name: string, about: string, aliases?: readonly string[]): ServeFlag => ({
  name,
  group: 'Parallelism',
  kind: 'integer',
  value: 'N',
  ...(aliases ? { aliases } : {}),
  about,
  does: only(['1'], oneDevice),
});

const parallelism: readonly ServeFlag[] = [
  parallel('num-gpus', 'Devices.'),
  parallel('ulysses-degree', 'Sequence parallelism.', ['usp']),
  parallel('ring-degree', 'Ring attention.'),
  parallel('allgather-degree', 'Gathered attention.'),
  parallel('tensor-parallel-size', 'Tensor parallelism.'),
  parallel('cfg-parallel-size', 'Guidance branches on different devices.'),
  parallel('data-parallel-size', 'Copies of the model.'),
  parallel('vae-patch-parallel-size', 'Decoder on several devices.'),
  {
    name: 'ulysses-mode',
    group: 'Parallelism',
    kind: 'text',
    value: 'MODE',
    about: 'Kind of sequence parallelism.',
    does: refused(oneDevice),
  },
  {
    name: 'vae-parallel-mode',
    group: 'Parallelism',
    kind: 'text',
    value: 'MODE',
    about: 'How the decoder is divided.',
    does: refused(oneDevice),
  },
  {
    name: 'use-hsdp',
    group: 'Parallelism',
    kind: 'switch',
    about: 'Divide weights between devices.',
    does: refused(oneDevice),
  },
  {
    name: 'hsdp-shard-size',
    group: 'Parallelism',
    kind: 'integer',
    value: 'N',
    about: 'Devices that share weights.',
    does: refused(oneDevice),
  },
  {
    name: 'hsdp-replicate-size',
    group: 'Parallelism',
    kind: 'integer',
    value: 'N',
    about: 'Copies of divided weights.',
    does: refused(oneDevice),
  },
  {
    name: 'enable-expert-parallel',
    group: 'Parallelism',
    kind: 'switch',
    about: 'Experts on different devices.',
    does: refused('this model has no experts'),
  },
];

const device: readonly ServeFlag[] = [
  {
    name: 'enable-distributed-layerwise-offload',
    group: 'Device',
    kind: 'switch',
    about: 'Weights divided between hosts.',
    does: refused(noDivision),
  },
  {
    name: 'dlo-use-allgather',
    group: 'Device',
    kind: 'switch',
    about: 'How divided weights come together.',
    does: refused(noDivision),
  },
  {
    name: 'dlo-no-use-allgather',
    group: 'Device',
    kind: 'switch',
    about: 'How divided weights come together.',
    does: refused(noDivision),
  },
  {
    name: 'force-cutlass-fp8',
    group: 'Device',
    kind: 'switch',
    about: 'Library of 8-bit products.',
    does: refused('FP8 products are those of cuBLASLt, or kernels of our own where it has none'),
  },
  {
    name: 'diffusion-attention-backend',
    group: 'Device',
    kind: 'text',
    value: 'NAME',
    about: 'Attention kernel.',
    does: only(['auto'], oneAttention),
  },
  {
    name: 'diffusion-attention-config',
    group: 'Device',
    kind: 'json',
    value: 'JSON',
    about: 'Settings of the attention kernel.',
    does: refused(oneAttention),
  },
  {
    name: 'fa-deterministic',
    group: 'Device',
    kind: 'switch',
    about: 'Reproducible attention.',
    does: noted('results are always reproducible'),
  },
  {
    name: 'diffusion-kv-cache-dtype',
    group: 'Device',
    kind: 'text',
    value: 'TYPE',
    about: 'Type of cached keys and values.',
    does: only(['auto'], 'they are kept as networks compute; --fp8-attention converts them in its kernel'),
  },
  {
    name: 'enforce-eager',
    group: 'Device',
    kind: 'switch',
    about: 'Compile nothing.',
    does: noted(noCompiler),
  },
  {
    name: 'diffusion-compile-granularity',
    group: 'Device',
    kind: 'text',
    value: 'KIND',
    about: 'What is compiled.',
    does: refused(noCompiler),
  },
  {
    name: 'diffusion-compile-dynamic',
    group: 'Device',
    kind: 'switch',
    about: 'Compile for all shapes.',
    does: refused(noCompiler),
  },
];

export const compatibleFlags: readonly ServeFlag[] = [...operation, ...model, ...parallelism, ...device];
