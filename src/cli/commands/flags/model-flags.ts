// The flags that say how a network's weights are come by and kept: random ones, eight bits, host memory.
import { type Command, Option } from 'commander';
import { type SyntheticName, syntheticNames } from '../../../engine/checkpoint/synthetic-configs.js';
import { readLora } from '../../../engine/door/read-lora.js';
import { readOffload } from '../../../engine/door/read-offload.js';
import { excludableParts, readQuantization } from '../../../engine/door/read-quantization.js';
import type { LoadOptions } from '../../../engine/index.js';

/** Values of the flags, as the command-line library hands them over. */
export interface ModelFlags extends ExclusionFlags {
  readonly synthetic?: SyntheticName;
  readonly loraPath?: string;
  readonly loraScale?: string;
  readonly quantization?: string;
  readonly enableLayerwiseOffload?: boolean;
  readonly releaseTextTower?: boolean;
}

/** Values of the flags of what stays out of eight bits. */
export interface ExclusionFlags {
  readonly quantizationExclude?: string[];
  readonly quantizationWideSteps?: string;
  readonly keepWide?: boolean;
}

/** Values of the flags of the autoencoder. */
export interface DecoderFlags {
  readonly vaeUseTiling?: boolean;
  readonly vaeUseSlicing?: boolean;
}

/** Adds `--vae-use-tiling` and `--vae-use-slicing`. */
export function addDecoderFlags(command: Command): void {
  command
    .option('--vae-use-tiling', 'decode frames by tiles: less memory, a little more time, slightly other pixels')
    .option('--vae-use-slicing', 'decode one clip at a time, which is what is always done');
}

/** Reads the flags. */
export function readDecoderFlags({ vaeUseTiling }: DecoderFlags): Pick<LoadOptions, 'vaeTiling'> {
  return { vaeTiling: vaeUseTiling };
}

/** Adds the flags of what stays out of eight bits. */
export function addExclusionFlags(command: Command): void {
  command
    .option(
      '--quantization-exclude <part...>',
      `layers (by number, from 0), towers and projections to leave as they are: ${excludableParts.join(', ')}`,
    )
    .option('--quantization-wide-steps <first,last>', 'denoise steps at the start and the end with 16-bit activations')
    .option('--keep-wide', 'keep 16-bit weights for those steps, instead of making them from eight bits each time');
}

/** Adds `--synthetic`, `--lora-path`, `--lora-scale` and the flags of quantisation and of layers that leave the GPU. */
export function addModelFlags(command: Command): void {
  command
    .addOption(
      new Option('--synthetic <size>', 'random weights of full size instead of a checkpoint, for measurements').choices(
        syntheticNames,
      ),
    )
    .option('--lora-path <path>', "adapter, merged into the transformer's weights as they are read: a file or a folder")
    .option('--lora-scale <s>', 'its strength; 1, as trained, where absent')
    .option('--quantization <format>', 'fp8 keeps linear layers in eight bits, on GPUs that can; none where absent');
  addExclusionFlags(command);
  command
    .option(
      '--enable-layerwise-offload',
      'keep all layers in host memory, which come to the GPU one ahead of their use',
    )
    .option('--release-text-tower', 'keep the layers that read prompts in host memory, and off the GPU in between');
}

/** Reads the flags. @throws RequestError for a part that is none, and for a scale that is none */
export function readModelFlags(
  flags: ModelFlags,
): Pick<LoadOptions, 'synthetic' | 'lora' | 'quantization' | 'offload'> {
  const { synthetic, quantization, quantizationExclude, quantizationWideSteps, keepWide } = flags;
  return {
    synthetic,
    lora: readLora({ path: flags.loraPath, scale: flags.loraScale }),
    quantization: readQuantization({
      format: quantization,
      exclude: quantizationExclude,
      wideSteps: quantizationWideSteps,
      keepWide,
    }),
    offload: readOffload({ layerwise: flags.enableLayerwiseOffload, releaseText: flags.releaseTextTower }),
  };
}

type Exclusions = Omit<NonNullable<LoadOptions['quantization']>, 'format'>;

/** What stays out of eight bits, where they are the default; undefined for nothing. @throws RequestError for a part that is none */
export function readExclusions(flags: ExclusionFlags): Exclusions | undefined {
  const { quantizationExclude: exclude, quantizationWideSteps: wideSteps, keepWide } = flags;
  if (exclude === undefined && wideSteps === undefined && keepWide === undefined) return undefined;
  const { format: _, ...exclusions } = readQuantization({ format: 'fp8', exclude, wideSteps, keepWide }) ?? {};
  return exclusions;
}
