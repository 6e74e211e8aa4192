// `orrery denoise`: the denoise policy, from a reference dump to a clip's latent.
import { type Command, Option } from 'commander';
import type { InferResult, LatentComparison, VideoLatent } from '../../../engine/flash/index.js';
import { RequestError } from '../../../protocol/index.js';
import { watchInterrupts } from '../../interrupt.js';
import { printLine, printNote } from '../../print.js';
import { Progress } from '../../progress.js';
import { addDeviceFlags, type DeviceFlags, readDeviceFlags } from '../flags/device-flags.js';
import { addExclusionFlags, type ExclusionFlags, readExclusions } from '../flags/model-flags.js';
import { readNumber } from './read-number.js';

interface DenoiseFlags extends DeviceFlags, ExclusionFlags {
  readonly checkpoint: string;
  readonly ref: string;
  readonly bf16?: boolean;
  readonly fp8?: boolean;
  readonly teacacheSkip: string;
  readonly teacacheMode: 'hold' | 'extrapolate';
  readonly shift: string;
  readonly output?: string;
  readonly quiet?: boolean;
  readonly json?: boolean;
}

const examples = `
Examples:
  orrery denoise --checkpoint flat.safetensors --ref tensors.safetensors --teacache-skip 3,5,7
  orrery denoise --checkpoint ./Cosmos3-Nano --ref tensors.safetensors --bf16 -o latent.safetensors

The checkpoint is a flat file (orrery convert makes one) or a folder in the diffusers layout; sizes are read from its
tensors. The dump holds what conditions the run, and the latent it is compared with (orrery dump makes one). Step numbers
count from 0; the first and the last step are never skipped. The time is that of the denoise loop, without reading files.

Exit codes: 0 done · 1 failed · 2 the flags are wrong · 130 stopped by Ctrl-C.`;

/** Adds the command. */
export function addDenoiseCommand(program: Command): void {
  const command = program
    .command('denoise')
    .description("denoise a reference dump's noise and compare the latent with the dump's")
    .requiredOption('--checkpoint <path>', "the transformer's weights: a flat .safetensors file, or a checkpoint")
    .requiredOption('--ref <file>', 'reference dump, tensors.safetensors')
    .option('--bf16', '16-bit linears instead of FP8')
    .option('--fp8', 'insist on FP8, which is the default where the GPU has it')
    .option('--teacache-skip <list>', 'steps that reuse the last velocity, as 3,5,7', '')
    .addOption(
      new Option('--teacache-mode <mode>', 'hold the last velocity, or extrapolate the last two')
        .choices(['hold', 'extrapolate'])
        .default('hold'),
    )
    .option('--shift <n>', 'flow shift; it must be the one the dump was made with', '10')
    .option('-o, --output <file>', 'write the latent to this .safetensors file')
    .option('-q, --quiet', 'no progress and no warnings')
    .option('--json', 'print one JSON object')
    .option('--debug', 'show stack traces')
    .addHelpText('after', examples)
    .action((flags: DenoiseFlags) => denoise(flags));
  addExclusionFlags(command);
  addDeviceFlags(command);
}

type Compared = InferResult & LatentComparison;

async function denoise(flags: DenoiseFlags): Promise<void> {
  const shift = readNumber('shift', flags.shift);
  if (flags.bf16 === true && flags.fp8 === true)
    throw new RequestError('conflict', 'fp8', '--fp8 and --bf16 exclude each other; give one of them');
  const { checkOutputFile, loadModel, writeLatent } = await import('../../../engine/flash/index.js');
  if (flags.output !== undefined) checkOutputFile(flags.output);
  const isQuiet = flags.quiet === true;
  const warnings: string[] = [];
  using progress = new Progress(isQuiet || flags.json === true);
  using interrupts = watchInterrupts(() => {
    progress.clear();
    if (!isQuiet) printNote('stopping after this step; press Ctrl-C again to leave at once');
  });
  const { signal } = interrupts;
  const { device, ...deviceOptions } = readDeviceFlags(flags);
  const start = performance.now();
  await using model = await loadModel(flags.checkpoint, {
    config: 'cosmos3_video',
    hardware: device,
    ...deviceOptions,
    useFp8: flags.bf16 === true ? false : flags.fp8,
    quantization: readExclusions(flags),
    signal,
    onWarning: (message) => {
      warnings.push(message);
      progress.clear();
      if (!isQuiet) printNote(`warning: ${message}`);
    },
  });
  await model.setPrompt({ ref: flags.ref, signal });
  const wallSeconds = (performance.now() - start) / 1000;
  const print = (line: string) => {
    if (flags.json !== true) printLine(`[cosmos3_video] ${line}`);
  };
  print(`load_model + set_prompt wall=${wallSeconds.toFixed(2)}s`);
  const result = await model.infer({
    teacacheSkip: flags.teacacheSkip,
    teacacheMode: flags.teacacheMode,
    shift,
    compareRef: true,
    returnMetadata: true,
    signal,
    onStep: ({ step, steps }) => progress.show({ label: 'denoise', done: step, total: steps, detail: '' }),
  });
  progress.clear();
  if (flags.output !== undefined) await writeLatent(flags.output, result.latent);
  for (const line of describe(result, flags.teacacheSkip)) print(line);
  if (flags.json === true)
    printLine(JSON.stringify(asJson(result, { wallSeconds, shift, warnings, output: flags.output })));
}

/** The lines of the original, word for word. */
function describe({ latent, latencyMs, quant, cos, relL2 }: Compared, skipList: string): readonly string[] {
  return [
    `denoise ${latencyMs.toFixed(1)} ms  quant=${quant}  teacache_skip=[${skipList}]`,
    `latent (${latent.shape.join(', ')})`,
    `latent cos ${cos.toFixed(5)}  rel_l2 ${(100 * relL2).toFixed(3)}%  (vs official reference)`,
  ];
}

interface JsonExtras {
  readonly wallSeconds: number;
  readonly shift: number;
  readonly warnings: readonly string[];
  readonly output: string | undefined;
}

function asJson({ latent, latencyMs, quant, skipped, cos, relL2 }: Compared, extras: JsonExtras): object {
  const shape: VideoLatent['shape'] = latent.shape;
  return {
    wall_seconds: extras.wallSeconds,
    denoise_ms: latencyMs,
    quant,
    teacache_skip: skipped,
    shift: extras.shift,
    latent_shape: shape,
    cos,
    rel_l2: relL2,
    warnings: extras.warnings,
    ...(extras.output === undefined ? {} : { output: extras.output }),
  };
}
