// `orrery quality`: what lower precision and skipped steps cost, against float32 from the same noise.
import { type Command, Option } from 'commander';
import { exitCodes } from '../../exit-codes.js';
import { printLine, printNote } from '../../print.js';
import { readDeviceFlags } from '../flags/device-flags.js';
import { readNumber, readWhole } from '../flash/read-number.js';

interface QualityFlags {
  readonly model?: string;
  readonly device?: string;
  readonly reference?: 'cpu' | 'cuda';
  readonly threads?: string;
  readonly cudaLibraries?: string[];
  readonly reuse?: boolean;
  readonly guidanceScale?: string;
  readonly only?: string[];
  readonly prompts?: string;
  readonly size?: string;
  readonly numFrames?: string;
  readonly numInferenceSteps?: string;
  readonly flowShift?: string;
  readonly json?: boolean;
}

const examples = `
Examples:
  orrery quality
  orrery quality --device cuda --reference cuda --json
  orrery quality --device cuda --only bf16 fp8 fp8-skip-3-5-7-hold
  orrery quality --prompts 2 --size 128x128 --num-frames 9
  orrery quality --reuse --prompts 4

Sixteen prompts are generated in float32 and again in each precision that the device has, with and without skipped steps, from the
same noise. Frames, final latents and each step's velocity on identical inputs are compared; limits are stated for the
bundled checkpoint at the standard size. On a CPU, which computes in float32 alone, only skipped steps are measured.
Exit code 1 when a limit is missed.`;

/** Adds the command. */
export function addQualityCommand(program: Command): void {
  program
    .command('quality')
    .description('measure what lower precision and skipped steps cost, against float32')
    .option('--model <model>', 'checkpoint; the bundled one where absent')
    .option(
      '--device <name>',
      'device to measure: cpu, cuda or cuda:N; the first usable GPU, else the CPU, where absent',
    )
    .addOption(
      new Option(
        '--reference <name>',
        'what computes float32: the CPU, or to save time the GPU, which one prompt then holds against the CPU',
      ).choices(['cpu', 'cuda']),
    )
    .option('--threads <n>', 'threads of the CPU device; all cores where absent')
    .option('--cuda-libraries <folder...>', "folders to look for CUDA's libraries in before all others")
    .option('--reuse', 'measure step caches and reused guidance instead, against the whole run on the same device')
    .option('--guidance-scale <g>', 'guidance of the clips with --reuse (3 where absent)')
    .option('--only <variant...>', 'only these variants')
    .option('--prompts <n>', 'the first n of the sixteen prompts')
    .option('--size <WxH>', 'size (320x192 where absent)')
    .option('--num-frames <n>', 'frames (25 where absent)')
    .option('--num-inference-steps <n>', 'steps (10 where absent)')
    .option('--flow-shift <s>', 'flow shift (10 where absent)')
    .option('--json', 'print one JSON object')
    .option('--debug', 'show stack traces')
    .addHelpText('after', examples)
    .action((flags: QualityFlags) => measure(flags));
}

async function measure(flags: QualityFlags): Promise<void> {
  const { model, reference, only, size, json } = flags;
  const { describeQuality, openQuality } = await import('../../../engine/index.js');
  if (flags.reuse === true) return measureReuse(flags);
  const quality = await openQuality({
    model,
    ...readDeviceFlags(flags),
    reference,
    only,
    size,
    job: readJob(flags),
    onProgress: json === true ? undefined : printNote,
  });
  if (json === true) printLine(JSON.stringify(quality));
  else for (const line of describeQuality(quality)) printLine(line);
  if (quality.failed > 0) process.exitCode = exitCodes.failed;
}

async function measureReuse(flags: QualityFlags): Promise<void> {
  const { model, only, size, json } = flags;
  const { describeReuse, openReuseQuality } = await import('../../../engine/index.js');
  const quality = await openReuseQuality({
    model,
    ...readDeviceFlags(flags),
    only,
    size,
    job: { ...readJob(flags), guidance: readNumber('guidance-scale', flags.guidanceScale) },
    onProgress: json === true ? undefined : printNote,
  });
  if (json === true) printLine(JSON.stringify(quality));
  else for (const line of describeReuse(quality)) printLine(line);
}

function readJob(flags: QualityFlags) {
  return {
    prompts: readWhole('prompts', flags.prompts),
    frames: readWhole('num-frames', flags.numFrames),
    steps: readWhole('num-inference-steps', flags.numInferenceSteps),
    flowShift: readNumber('flow-shift', flags.flowShift),
  };
}
