// The flags that say how a network's weights are come by and kept: random ones, and eight bits.
import { type Command, Option } from 'commander';
import { type SyntheticName, syntheticNames } from '../../../engine/checkpoint/synthetic-configs.js';
import type { LoadOptions } from '../../../engine/index.js';
import { RequestError } from '../../../protocol/index.js';

/** Values of the flags, as the command-line library hands them over. */
export interface ModelFlags {
  readonly synthetic?: SyntheticName;
  readonly quantization?: 'fp8';
  readonly quantizationExclude?: string[];
  readonly quantizationWideSteps?: string;
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

const excludable = ['und', 'gen', 'qkv', 'out', 'gate_up', 'down'] as const;

/** Adds `--synthetic` and the flags of quantisation. */
export function addModelFlags(command: Command): void {
  command
    .addOption(
      new Option('--synthetic <size>', 'random weights of full size instead of a checkpoint, for measurements').choices(
        syntheticNames,
      ),
    )
    .addOption(
      new Option('--quantization <format>', 'keep linear layers in eight bits, on GPUs that can').choices(['fp8']),
    )
    .option(
      '--quantization-exclude <part...>',
      `layers (by number, from 0), towers and projections to leave as they are: ${excludable.join(', ')}`,
    )
    .option('--quantization-wide-steps <first,last>', 'denoise steps at the start and the end with 16-bit activations');
}

/** Reads the flags. @throws RequestError for a part that is none */
export function readModelFlags(flags: ModelFlags): Pick<LoadOptions, 'synthetic' | 'quantization'> {
  const { synthetic, quantization, quantizationExclude = [], quantizationWideSteps } = flags;
  if (quantization === undefined) {
    if (quantizationExclude.length > 0 || quantizationWideSteps !== undefined)
      throw new RequestError(
        'missing_parameter',
        'quantization',
        '--quantization-exclude and --quantization-wide-steps say nothing without --quantization fp8; add it',
      );
    return { synthetic };
  }
  const parts = quantizationExclude.flatMap((text) => text.split(','));
  const known = new Set<string>(excludable);
  const wrong = parts.find((part) => !known.has(part) && !/^\d+$/.test(part));
  if (wrong !== undefined)
    throw new RequestError(
      'invalid_value',
      'quantization_exclude',
      `--quantization-exclude ${wrong} is neither a layer's number nor one of ${excludable.join(', ')}`,
    );
  const [wideFirstSteps, wideLastSteps] = readWideSteps(quantizationWideSteps);
  return {
    synthetic,
    quantization: {
      format: quantization,
      excludeTowers: (['und', 'gen'] as const).filter((name) => parts.includes(name)),
      excludeProjections: (['qkv', 'out', 'gate_up', 'down'] as const).filter((name) => parts.includes(name)),
      excludeLayers: parts.filter((part) => /^\d+$/.test(part)).map(Number),
      wideFirstSteps,
      wideLastSteps,
    },
  };
}

function readWideSteps(text: string | undefined): readonly [first: number, last: number] {
  if (text === undefined) return [0, 0];
  const [, first, last] = /^(\d+),(\d+)$/.exec(text) ?? [];
  if (first !== undefined && last !== undefined) return [Number(first), Number(last)];
  throw new RequestError(
    'invalid_value',
    'quantization_wide_steps',
    `--quantization-wide-steps must be two whole numbers, as 1,2, got ${text}`,
  );
}
