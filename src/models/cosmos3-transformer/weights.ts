// The transformer's weights, by the checkpoint's names. Source: spec, section 1.
import {
  type Backend,
  disposeTensors,
  inGroup,
  type Offload,
  type Tensor,
  uploadFloats,
  type Weight,
  type WeightGroup,
} from '../../backend/index.js';
import { type AttentionNames, type AttentionWeights, readAttention, widenedAttention } from '../../nn/attention.js';
import { type Linear, readBiasedLinear, readVector } from '../../nn/linear.js';
import { type Mlp, readMlp, widenedMlp } from '../../nn/mlp.js';
import { readTimestepEmbedder, type TimestepEmbedder } from '../../nn/timestep.js';
import { type StoredWeight, toFloat32, type WeightReader } from '../../weights/index.js';
import type { TransformerConfig } from './config.js';
import { checkQuantization, linearFormats, type Quantization, type Tower } from './quantization.js';

/** One layer of one tower. */
export interface TowerLayer {
  readonly inputNorm: Tensor; // [D]
  readonly attention: AttentionWeights;
  readonly postNorm: Tensor; // [D]
  readonly mlp: Mlp;
  /** What its matrices belong to where they leave the device between uses. */
  readonly group?: WeightGroup;
}

/** One layer: the text tower's half and the generation tower's half. */
export interface Layer {
  readonly und: TowerLayer;
  readonly gen: TowerLayer;
  /** Norm of the text keys that generation rows see, where it differs from the text tower's own. */
  readonly textKeyNorm?: Tensor; // [d]
}

/** Input and output projections of a modality other than vision. */
export interface SoundHead {
  readonly input: Linear; // [D, C]
  readonly output: Linear; // [C, D]
  readonly modality: Tensor; // [D]
}

/** Action projections have one matrix per domain, read when a domain is used (`readActionProjection`). */
export interface ActionHead {
  readonly inputMatrices: StoredWeight; // [domains, dim * D], each row viewed as [dim, D]
  readonly inputBiases: StoredWeight; // [domains, D]
  readonly outputMatrices: StoredWeight; // [domains, D * dim], each row viewed as [D, dim]
  readonly outputBiases: StoredWeight; // [domains, dim]
  readonly modality: Tensor; // [D]
}

export interface Transformer {
  readonly config: TransformerConfig;
  readonly embedTokens: Weight; // [V, D]
  readonly layers: readonly Layer[];
  /** Null where all weights are as the device computes. */
  readonly quantization: Quantization | null;
  /** The groups of layers that leave the device between uses; null where all stay. */
  readonly offload: Offload | null;
  /** The generation tower's half of each layer for steps without quantised rows. */
  readonly wideLayers: readonly TowerLayer[];
  readonly genNorm: Tensor; // [D]
  readonly visionInput: Linear; // [D, p p C]
  readonly visionOutput: Linear; // [p p C, D]
  readonly timestep: TimestepEmbedder;
  readonly sound: SoundHead | null;
  readonly action: ActionHead | null;
}

const undNames = (norms: boolean): AttentionNames => ({
  qkv: ['to_q', 'to_k', 'to_v'],
  out: 'to_out',
  ...(norms && { norms: ['norm_q', 'norm_k'] }),
});

const genNames: AttentionNames = {
  qkv: ['add_q_proj', 'add_k_proj', 'add_v_proj'],
  out: 'to_add_out',
  norms: ['norm_added_q', 'norm_added_k'],
};

/** Where layers live between uses. */
export interface TransformerPlacement {
  /** Towers whose layers are kept in host memory and brought one ahead of their use; none where absent. */
  readonly offload?: readonly Tower[];
}

/**
 * Reads the whole transformer. Not read: `lm_head` and the text tower's final norm, which generation never uses.
 * @throws WeightError where a tensor is missing or misshaped · QuantizationError where nothing would be quantised ·
 *   UnsupportedFormatError where the device cannot
 */
export function readTransformer(
  b: Backend,
  reader: WeightReader,
  config: TransformerConfig,
  quantization: Quantization | null = null,
  { offload: towers = [] }: TransformerPlacement = {},
): Transformer {
  const { hidden, latentChannels, patch } = config;
  const patchDim = patch * patch * latentChannels;
  if (quantization) checkQuantization(quantization, config);
  const offload = towers.length > 0 ? b.offload() : null;
  const layers = Array.from({ length: config.layers }, (_, i) =>
    readLayer(b, reader.scope(`layers.${i}`), config, {
      formats: (tower) => linearFormats(quantization, tower, i),
      group: (tower) => (offload && towers.includes(tower) ? offload.group() : null),
    }),
  );
  return {
    config,
    embedTokens: b.weight([reader.read('embed_tokens.weight', [config.vocabulary, hidden])], 'table'),
    layers,
    quantization,
    offload,
    wideLayers: layers.map(({ gen }) => ({
      ...gen,
      attention: widenedAttention(gen.attention),
      mlp: widenedMlp(gen.mlp),
    })),
    genNorm: readVector(b, reader, 'norm_moe_gen.weight', hidden),
    visionInput: readBiasedLinear(b, reader, 'proj_in', hidden, patchDim),
    visionOutput: readBiasedLinear(b, reader, 'proj_out', patchDim, hidden),
    timestep: readTimestepEmbedder(b, reader.scope('time_embedder'), hidden),
    sound: config.sound && readSoundHead(b, reader, config.sound.channels, hidden),
    action: config.action && readActionHead(b, reader, config.action, hidden),
  };
}

/** How the halves of a layer are kept. */
interface LayerKeeping {
  readonly formats: (tower: Tower) => ReturnType<typeof linearFormats>;
  readonly group: (tower: Tower) => WeightGroup | null;
}

function readLayer(b: Backend, reader: WeightReader, config: TransformerConfig, kept: LayerKeeping): Layer {
  const layout = { kind: config.mlp, hidden: config.hidden, inner: config.inner };
  const half = (tower: Tower, suffix: '' | '_moe_gen', names: AttentionNames): TowerLayer => {
    const formats = kept.formats(tower);
    const group = kept.group(tower);
    const own = group ? inGroup(b, group) : b;
    return {
      inputNorm: readVector(b, reader, `input_layernorm${suffix}.weight`, config.hidden),
      attention: readAttention(own, reader.scope('self_attn'), names, config, formats),
      postNorm: readVector(b, reader, `post_attention_layernorm${suffix}.weight`, config.hidden),
      mlp: readMlp(own, reader.scope(`mlp${suffix}`), layout, { up: formats.gate_up, down: formats.down }),
      ...(group && { group }),
    };
  };
  return {
    und: half('und', '', undNames(config.textNorms)),
    gen: half('gen', '_moe_gen', genNames),
    ...(config.textKeyNormForGen && {
      textKeyNorm: readVector(b, reader, 'self_attn.k_norm_und_for_gen.weight', config.headDim),
    }),
  };
}

function readSoundHead(b: Backend, reader: WeightReader, channels: number, hidden: number): SoundHead {
  return {
    input: readBiasedLinear(b, reader, 'audio_proj_in', hidden, channels),
    output: readBiasedLinear(b, reader, 'audio_proj_out', channels, hidden),
    modality: readVector(b, reader, 'audio_modality_embed', hidden),
  };
}

function readActionHead(
  b: Backend,
  reader: WeightReader,
  { dim, domains }: { readonly dim: number; readonly domains: number },
  hidden: number,
): ActionHead {
  return {
    inputMatrices: reader.read('action_proj_in.fc.weight', [domains, dim * hidden]),
    inputBiases: reader.read('action_proj_in.bias.weight', [domains, hidden]),
    outputMatrices: reader.read('action_proj_out.fc.weight', [domains, hidden * dim]),
    outputBiases: reader.read('action_proj_out.bias.weight', [domains, dim]),
    modality: readVector(b, reader, 'action_modality_embed', hidden),
  };
}

/** The action projections of one domain. */
export interface ActionProjection {
  readonly input: Linear; // [D, dim]
  readonly output: Linear; // [dim, D]
}

/** Reads one domain's projections; stored as `[in, out]`, they are transposed once here. */
export function readActionProjection(b: Backend, transformer: Transformer, domain: number): ActionProjection {
  const { action, config } = transformer;
  if (!action || !config.action) throw new Error('this checkpoint has no action head');
  const { dim } = config.action;
  const input = domainLinear(b, action.inputMatrices, action.inputBiases, domain, dim, config.hidden);
  try {
    return { input, output: domainLinear(b, action.outputMatrices, action.outputBiases, domain, config.hidden, dim) };
  } catch (error) {
    disposeTensors(input);
    throw error;
  }
}

function domainLinear(
  b: Backend,
  matrices: StoredWeight,
  biases: StoredWeight,
  domain: number,
  inputs: number,
  outputs: number,
): Linear {
  const matrix = storedRow(matrices, domain);
  const transposed = new Float32Array(inputs * outputs);
  for (let i = 0; i < inputs; i++)
    for (let o = 0; o < outputs; o++) transposed[o * inputs + i] = matrix[i * outputs + o] as number;
  const part = { shape: [outputs, inputs], dtype: 'f32' as const, bytes: new Uint8Array(transposed.buffer) };
  const bias = uploadFloats(b, storedRow(biases, domain), [outputs]);
  return { weight: b.weight([part], 'matrix'), bias };
}

function storedRow(stored: StoredWeight, row: number): Float32Array {
  const columns = stored.shape[1] ?? 0;
  const rowBytes = stored.bytes.length / (stored.shape[0] ?? 1);
  return toFloat32({
    ...stored,
    shape: [1, columns],
    bytes: stored.bytes.subarray(row * rowBytes, (row + 1) * rowBytes),
  });
}
