// Reads the networks of a checkpoint onto a device, and lists what does not fit.
import type { Backend } from '../../backend/index.js';
import {
  parseTransformerConfig,
  type Quantization,
  readTransformer,
  type Tower,
} from '../../models/cosmos3-transformer/index.js';
import { parseSoundTokenizerConfig, readSoundTokenizer } from '../../models/sound-tokenizer/index.js';
import { parseWanVaeConfig, readWanVae } from '../../models/wan-vae/index.js';
import type { Networks } from '../../pipeline/networks.js';
import { RequestError } from '../../protocol/index.js';
import type { Checkpoint, CheckpointPart, WeightReader } from '../../weights/index.js';
import type { CudaBackend } from '../loader.js';
import { takeRandomWeights } from './random-weights.js';

/** Networks and the names that no network asked for. */
export interface LoadedNetworks {
  readonly networks: Networks;
  /** `part/name` of weights that nothing read, and `part/config.json: key` of configuration keys that nothing knows. */
  readonly unread: readonly string[];
}

export interface LoadNetworkOptions {
  /** The backend where it is a GPU: random weights are then made there. */
  readonly cuda?: CudaBackend | null;
  /** Linear layers of the transformer in eight bits; null where absent. */
  readonly quantization?: Quantization | null;
  /** Towers of the transformer whose layers lie in the host's memory and come to the GPU one ahead of their use; none where absent. */
  readonly offload?: readonly Tower[];
}

/**
 * Loads all networks.
 * @throws RequestError where attention in FP8 was asked for and no kernel serves it; WeightError naming every tensor that is missing or misshaped; CheckpointError for a damaged file
 */
export function loadNetworks(
  checkpoint: Checkpoint,
  backend: Backend,
  { cuda = null, quantization = null, offload = [] }: LoadNetworkOptions = {},
): LoadedNetworks {
  const unread: string[] = [];
  const reading = takeRandomWeights(backend, cuda);
  const load = <T>(
    name: string,
    read: (part: CheckpointPart, reader: WeightReader) => readonly [T, readonly string[]],
  ): T => {
    const part = checkpoint.part(name);
    const reader = part.weights({ collect: true });
    const [network, unknownKeys] = read(part, reader);
    reader.settle();
    unread.push(...reader.unread().map((weight) => `${name}/${weight}`));
    unread.push(...unknownKeys.map((key) => `${name}/config.json: ${key}`));
    return network;
  };
  const transformer = load('transformer', (part, reader) => {
    const config = parseTransformerConfig(part.config, part.path);
    const reason = cuda?.whyNoFp8Attention(config.headDim) ?? null;
    if (reason !== null) throw new RequestError('unsupported', 'fp8_attention', `fp8_attention: ${reason}`);
    return [readTransformer(reading, reader, config, quantization, { offload }), config.unknownKeys];
  });
  const vae = load('vae', (part, reader) => {
    const config = parseWanVaeConfig(part.config, part.path);
    return [readWanVae(reading, reader, config), config.unknownKeys];
  });
  const sound = !checkpoint.has('sound_tokenizer')
    ? null
    : load('sound_tokenizer', (part, reader) => {
        const config = parseSoundTokenizerConfig(part.config, part.path);
        return [readSoundTokenizer(reading, reader, config), config.unknownKeys];
      });
  return { networks: { backend, transformer, vae, sound }, unread };
}
