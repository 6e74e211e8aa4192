// What a transformer file holds, read off the shapes of its tensors: no configuration is needed to denoise.
import { parseTransformerConfig, type TransformerConfig } from '../../../models/cosmos3-transformer/index.js';
import { CheckpointError } from '../../../weights/index.js';
import { IncompleteFileError } from './incomplete-file-error.js';
import type { TransformerFile } from './open-transformer.js';

/** Sizes and variant of the network. */
export interface TransformerShape {
  readonly layers: number;
  readonly hidden: number; // D
  readonly inner: number; // F
  readonly heads: number; // H
  readonly kvHeads: number; // G
  readonly headDim: number; // d
  readonly patchDim: number; // p p C
  readonly mlp: 'swiglu' | 'relu2';
  readonly textNorms: boolean;
  readonly textKeyNormForGen: boolean;
  /** Whether timesteps can be embedded, and with that a dump's be recognised. */
  readonly hasTimeEmbedder: boolean;
  readonly eps: number;
  readonly timestepScale: number;
  /** What the configuration says of patches, where there is one. */
  readonly patch: { readonly size: number; readonly channels: number } | null;
}

/** The published networks' values, for files without a configuration: Nano and Super have SwiGLU, Edge squared ReLU. */
const published = { eps: { swiglu: 1e-6, relu2: 1e-5 }, timestepScale: 0.001 };

export const timeEmbedderNames = ['linear_1', 'linear_2'].flatMap((name) => [
  `time_embedder.${name}.weight`,
  `time_embedder.${name}.bias`,
]);

type Sizes = Pick<TransformerShape, 'hidden' | 'inner' | 'heads' | 'kvHeads' | 'headDim' | 'patchDim'>;
type Variant = Pick<TransformerShape, 'layers' | 'mlp' | 'textNorms' | 'textKeyNormForGen'>;

/** Names and shapes of what denoising reads. Source: performance spec, A.9. */
export function neededTensors(
  variant: Variant,
  sizes: Sizes,
): readonly (readonly [name: string, shape: readonly number[]])[] {
  const { hidden, inner, heads, kvHeads, headDim, patchDim } = sizes;
  const [wide, narrow] = [heads * headDim, kvHeads * headDim];
  const projections = (names: readonly [string, string, string, string]) =>
    [
      [wide, hidden],
      [narrow, hidden],
      [narrow, hidden],
      [hidden, wide],
    ].map((shape, i) => [`self_attn.${names[i]}.weight`, shape] as const);
  const norms = (...names: string[]) => names.map((name) => [`self_attn.${name}.weight`, [headDim]] as const);
  const tower = (suffix: string) => {
    const up = [`mlp${suffix}.up_proj.weight`, [inner, hidden]] as const;
    const gate = [`mlp${suffix}.gate_proj.weight`, [inner, hidden]] as const;
    return [
      [`input_layernorm${suffix}.weight`, [hidden]] as const,
      [`post_attention_layernorm${suffix}.weight`, [hidden]] as const,
      ...(variant.mlp === 'swiglu' ? [gate, up] : [up]),
      [`mlp${suffix}.down_proj.weight`, [hidden, inner]] as const,
    ];
  };
  const layer = [
    ...tower(''),
    ...projections(['to_q', 'to_k', 'to_v', 'to_out']),
    ...(variant.textNorms ? norms('norm_q', 'norm_k') : []),
    ...(variant.textKeyNormForGen ? norms('k_norm_und_for_gen') : []),
    ...tower('_moe_gen'),
    ...projections(['add_q_proj', 'add_k_proj', 'add_v_proj', 'to_add_out']),
    ...norms('norm_added_q', 'norm_added_k'),
  ];
  return [
    ...Array.from({ length: variant.layers }, (_, i) =>
      layer.map(([name, shape]) => [`layers.${i}.${name}`, shape] as const),
    ).flat(),
    ['norm_moe_gen.weight', [hidden]],
    ['proj_in.weight', [hidden, patchDim]],
    ['proj_in.bias', [hidden]],
    ['proj_out.weight', [patchDim, hidden]],
    ['proj_out.bias', [patchDim]],
  ];
}

/**
 * Reads the shape and checks every tensor that denoising needs.
 * @throws IncompleteFileError naming all keys that are missing or misshaped; ConfigError or CheckpointError where the
 *   configuration is malformed or contradicts the tensors
 */
export function readTransformerShape(file: TransformerFile): TransformerShape {
  const { table, path } = file;
  const config = file.config === null ? null : parseTransformerConfig(file.config.json, path);
  const variant = readVariant(table.names, config);
  const sizes = readSizes(file);
  const missing: string[] = [];
  const misfits: string[] = [];
  for (const [name, shape] of neededTensors(variant, sizes)) {
    const info = table.info(name);
    if (info === undefined) missing.push(file.spell(name));
    else if (info.dtype === undefined)
      misfits.push(`${file.spell(name)} is ${info.fileDtype}, expected a dtype that networks use`);
    else if (!shape.includes(unknown) && String(info.shape) !== String(shape))
      misfits.push(`${file.spell(name)} is [${info.shape.join(', ')}], expected [${shape.join(', ')}]`);
  }
  if (missing.length === 0) misfits.push(...oddHeads(sizes));
  if (missing.length + misfits.length > 0) {
    const remedy = `give the weights of a Cosmos3 transformer, flat or in the diffusers layout (orrery convert makes the one from the other)`;
    throw new IncompleteFileError(path, { missing, misfits }, remedy);
  }
  if (config !== null) compareConfig(path, config, { ...variant, ...sizes });
  return {
    ...variant,
    ...sizes,
    hasTimeEmbedder: timeEmbedderNames.every((name) => table.info(name) !== undefined),
    eps: config?.eps ?? published.eps[variant.mlp],
    timestepScale: config?.timestepScale ?? published.timestepScale,
    patch: config === null ? null : { size: config.patch, channels: config.latentChannels },
  };
}

function readVariant(names: readonly string[], config: TransformerConfig | null): Variant {
  const has = (suffix: string) => names.some((name) => name.endsWith(suffix));
  const indexes = names.flatMap((name) => /^layers\.(\d+)\./.exec(name)?.[1] ?? []).map(Number);
  const found = indexes.reduce((most, index) => Math.max(most, index + 1), 1);
  const hasGate = has('.gate_proj.weight') || !has('.up_proj.weight');
  const mlp = config?.mlp ?? (hasGate ? 'swiglu' : 'relu2');
  return {
    layers: Math.max(found, config?.layers ?? 1),
    mlp,
    textNorms: config?.textNorms ?? (mlp === 'swiglu' || has('.self_attn.norm_q.weight')),
    textKeyNormForGen: config?.textKeyNormForGen ?? has('.self_attn.k_norm_und_for_gen.weight'),
  };
}

/** Stands for a size whose tensor is missing. */
const unknown = Number.NaN;

function readSizes({ table }: TransformerFile): Sizes {
  const size = (pattern: RegExp, axis: number) => {
    const name = table.names.find((candidate) => pattern.test(candidate));
    return (name === undefined ? undefined : table.info(name)?.shape[axis]) ?? unknown;
  };
  const headDim = size(/\.norm_added_[qk]\.weight$/, 0);
  return {
    hidden: size(/^proj_in\.weight$/, 0),
    inner: size(/\.mlp_moe_gen\.up_proj\.weight$/, 0),
    heads: size(/\.add_q_proj\.weight$/, 0) / headDim,
    kvHeads: size(/\.add_k_proj\.weight$/, 0) / headDim,
    headDim,
    patchDim: size(/^proj_in\.weight$/, 1),
  };
}

function oddHeads({ heads, kvHeads, headDim }: Sizes): string[] {
  const isRegular = Number.isInteger(heads) && Number.isInteger(kvHeads) && heads % kvHeads === 0 && headDim % 2 === 0;
  if (isRegular) return [];
  return [`projections and norms make ${heads} query and ${kvHeads} key heads of ${headDim}, expected whole multiples`];
}

function compareConfig(path: string, config: TransformerConfig, found: Sizes & Variant): void {
  const stated = { ...config, patchDim: config.patch ** 2 * config.latentChannels };
  for (const key of ['layers', 'hidden', 'inner', 'heads', 'kvHeads', 'headDim', 'patchDim'] as const) {
    if (stated[key] === found[key]) continue;
    const problem = `its configuration says ${key} ${stated[key]}, its tensors ${found[key]}`;
    throw new CheckpointError(path, problem, 'the configuration belongs to other weights: put the right one there');
  }
}
