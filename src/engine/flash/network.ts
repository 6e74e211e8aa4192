// The transformer of a weight file on a device, with nothing but what denoising a dump needs.
import { type Backend, disposeTensors } from '../../backend/index.js';
import {
  type Quantization,
  readTransformer,
  type Transformer,
  type TransformerConfig,
} from '../../models/cosmos3-transformer/index.js';
import { createWeightReader, type StoredWeight, type WeightTable } from '../../weights/index.js';
import type { TransformerFile } from './files/open-transformer.js';
import type { TransformerShape } from './files/transformer-shape.js';

/** What of the network a dump decides. */
export interface PatchLayout {
  readonly patch: number; // p
  readonly latentChannels: number; // C
}

/**
 * Reads both towers.
 * @throws WeightError, UnsupportedFormatError or OutOfMemoryError
 */
export function readNetwork(
  b: Backend,
  file: TransformerFile,
  shape: TransformerShape,
  { layout, quantization }: { readonly layout: PatchLayout; readonly quantization: Quantization | null },
): Transformer {
  const config = configOf(shape, layout);
  const reader = createWeightReader(fillAbsent(file.table, shape), { collect: true });
  const transformer = readTransformer(b, reader, config, quantization);
  reader.settle();
  // Rows come from the dump: the table is a stand-in, and so is a time embedder that the file does not have.
  transformer.embedTokens[Symbol.dispose]();
  if (!shape.hasTimeEmbedder) {
    const { first, second } = transformer.timestep;
    for (const { weight, bias } of [first, second]) {
      weight[Symbol.dispose]();
      disposeTensors(bias);
    }
  }
  return transformer;
}

/** The configuration as far as denoising reads it; positions come from the dump. */
function configOf(shape: TransformerShape, layout: PatchLayout): TransformerConfig {
  return {
    ...shape,
    ...layout,
    vocabulary: 1,
    ropeTheta: 10_000,
    ropeAxes: [shape.headDim / 2, 0, 0],
    baseFps: 24,
    fpsModulation: true,
    modalityMargin: 15_000,
    sound: null,
    action: null,
    unknownKeys: [],
  };
}

const sinusoids = 256;

/** The file's tensors, and zeros for those that a flat file may leave out. */
function fillAbsent(table: WeightTable, { hidden, hasTimeEmbedder }: TransformerShape): WeightTable {
  const absent = new Map<string, readonly number[]>([['embed_tokens.weight', [1, hidden]]]);
  if (!hasTimeEmbedder) {
    absent.set('time_embedder.linear_1.weight', [hidden, sinusoids]);
    absent.set('time_embedder.linear_1.bias', [hidden]);
    absent.set('time_embedder.linear_2.weight', [hidden, hidden]);
    absent.set('time_embedder.linear_2.bias', [hidden]);
  }
  return {
    origin: table.origin,
    names: table.names,
    info(name) {
      const shape = absent.get(name);
      if (shape === undefined) return table.info(name);
      return { name, shape, dtype: 'bf16', fileDtype: 'BF16', byteLength: 2 * count(shape), file: table.origin };
    },
    load(name) {
      const shape = absent.get(name);
      return shape === undefined ? table.load(name) : zeros(name, shape);
    },
  };
}

function zeros(name: string, shape: readonly number[]): StoredWeight {
  return { name, shape, dtype: 'bf16', bytes: new Uint8Array(2 * count(shape)) };
}

function count(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}
