// Where the weights of a checkpoint lie on a GPU and how many bytes they take there: by tower, layer and projection.
import {
  linearFormats,
  type Projection,
  projections,
  type Quantization,
  type Tower,
  type TransformerConfig,
} from '../../models/cosmos3-transformer/index.js';

/** How a GPU keeps the transformer's layers. */
export interface LayerKeeping {
  readonly dtype: 'f32' | 'bf16';
  readonly quantization: Quantization | null;
  /** Towers whose layers lie in the host's memory between uses. */
  readonly offload: readonly Tower[];
}

/** Bytes of the transformer's layers. */
export interface LayerBytes {
  /** On the device: layers that stay, and room for the one in use and the next of those that do not. */
  readonly device: number;
  /** Page-locked, in the host's memory: all layers that do not stay. */
  readonly host: number;
}

const towers: readonly Tower[] = ['und', 'gen'];

/** Bytes of both towers' matrices; norms and biases are a thousandth of that and left out. */
export function layerBytes(config: TransformerConfig, keeping: LayerKeeping): LayerBytes {
  let [device, host, largest] = [0, 0, 0];
  for (const tower of towers) {
    const isAway = keeping.offload.includes(tower);
    for (let layer = 0; layer < config.layers; layer++) {
      const bytes = matrixBytes(config, keeping, tower, layer);
      if (isAway) {
        host += bytes;
        largest = Math.max(largest, bytes);
      } else device += bytes;
    }
  }
  return { device: device + 2 * largest, host };
}

/** Rows and columns of a layer's merged matrices. */
function shapeOf(
  { hidden, inner, heads, kvHeads, headDim, mlp }: TransformerConfig,
  projection: Projection,
): readonly [rows: number, columns: number] {
  switch (projection) {
    case 'qkv':
      return [(heads + 2 * kvHeads) * headDim, hidden];
    case 'out':
      return [hidden, heads * headDim];
    case 'gate_up':
      return [(mlp === 'swiglu' ? 2 : 1) * inner, hidden];
    case 'down':
      return [hidden, inner];
    default:
      return projection satisfies never;
  }
}

function matrixBytes(
  config: TransformerConfig,
  { dtype, quantization }: LayerKeeping,
  tower: Tower,
  layer: number,
): number {
  const formats = linearFormats(quantization, tower, layer);
  return projections.reduce((sum, projection) => {
    const [rows, columns] = shapeOf(config, projection);
    const { format, keepWide } = formats[projection];
    const wide = rows * columns * (dtype === 'bf16' ? 2 : 4);
    // A row in eight bits has a float32 factor.
    return sum + (format === 'fp8' ? rows * (columns + 4) + (keepWide ? wide : 0) : wide);
  }, 0);
}
