// `orrery dump`: a reference dump of any prompt, for `orrery denoise`.
import type { Command } from 'commander';
import { RequestError } from '../../../protocol/index.js';
import { watchInterrupts } from '../../interrupt.js';
import { printLine, printNote } from '../../print.js';
import { describeDownload, Progress } from '../../progress.js';
import { addDeviceFlags, type DeviceFlags, readDeviceFlags } from '../flags/device-flags.js';
import { readNumber, readWhole } from './read-number.js';

interface DumpFlags extends DeviceFlags {
  readonly output: string;
  readonly model?: string;
  readonly revision?: string;
  readonly size?: string;
  readonly numFrames?: string;
  readonly fps?: string;
  readonly numInferenceSteps?: string;
  readonly shift?: string;
  readonly seed?: string;
  readonly quiet?: boolean;
  readonly json?: boolean;
}

const examples = `
Examples:
  orrery dump "A red ball rolls to the right." -o tensors.safetensors
  orrery dump "Waves on a beach." --model ./Cosmos3-Nano --size 832x480 --num-frames 49 -o tensors.safetensors

The run is the reference: no guidance, wide precision, the native UniPC grid, 10 steps and shift 10 unless given. The dump
has the keys that orrery denoise reads, and meta/ keys with prompt, seed and shift.

Exit codes: 0 done · 1 failed · 2 the flags are wrong · 130 stopped by Ctrl-C.`;

/** Adds the command. */
export function addDumpCommand(program: Command): void {
  const command = program
    .command('dump')
    .description('denoise a prompt and write what conditioned it, and its latent, as a reference dump')
    .argument('<prompt>', 'what the clip shows')
    .requiredOption('-o, --output <file>', 'dump to write, as tensors.safetensors')
    .option('--model <checkpoint>', "a folder or repository id in the diffusers layout; the package's own where absent")
    .option('--revision <name>', 'branch, tag or commit of the repository')
    .option('--size <WxH>', "size in pixels; the checkpoint's default where absent")
    .option('--num-frames <n>', "frames; the checkpoint's default where absent")
    .option('--fps <n>', "frames a second; the checkpoint's default where absent")
    .option('--num-inference-steps <n>', 'denoise steps; 10 where absent')
    .option('--shift <n>', 'flow shift; 10 where absent')
    .option('--seed <n>', 'seed of the noise; drawn where absent')
    .option('-q, --quiet', 'no progress and no warnings')
    .option('--json', 'print one JSON object')
    .option('--debug', 'show stack traces')
    .addHelpText('after', examples)
    .action((prompt: string, flags: DumpFlags) => dump(prompt, flags));
  addDeviceFlags(command);
}

async function dump(prompt: string, flags: DumpFlags): Promise<void> {
  const numbers = {
    ...readSize(flags.size),
    frames: readWhole('num-frames', flags.numFrames),
    fps: readNumber('fps', flags.fps),
    steps: readWhole('num-inference-steps', flags.numInferenceSteps),
    shift: readNumber('shift', flags.shift),
    seed: readWhole('seed', flags.seed, 0),
  };
  const { dumpReference } = await import('../../../engine/flash/index.js');
  const isQuiet = flags.quiet === true;
  using progress = new Progress(isQuiet || flags.json === true);
  using interrupts = watchInterrupts(() => {
    progress.clear();
    if (!isQuiet) printNote('stopping after this step; press Ctrl-C again to leave at once');
  });
  const { plan, warnings, path, ...counts } = await dumpReference({
    prompt,
    output: flags.output,
    model: flags.model,
    revision: flags.revision,
    ...numbers,
    ...readDeviceFlags(flags),
    signal: interrupts.signal,
    onStep: ({ step, steps }) => progress.show({ label: 'denoise', done: step, total: steps, detail: '' }),
    onDownload: (state) => progress.show(describeDownload('download', state)),
  });
  progress.clear();
  if (!isQuiet) for (const { message } of warnings) printNote(`warning: ${message}`);
  if (flags.json === true) printLine(JSON.stringify({ path, ...counts, seed: plan.seed, plan, warnings }));
  else if (!isQuiet) {
    const { frames, height, width } = { ...plan.content, frames: plan.frames };
    const text = `${counts.textTokens} text and ${counts.tokens} vision tokens, ${counts.steps} steps`;
    printLine(`${path}  ${width}x${height}, ${frames} frames, ${text}, seed ${plan.seed}`);
  }
}

function readSize(text: string | undefined): { readonly width?: number; readonly height?: number } {
  if (text === undefined) return {};
  const [, width, height] = /^(\d+)\s*[xX×]\s*(\d+)$/.exec(text.trim()) ?? [];
  if (width !== undefined && height !== undefined) return { width: Number(width), height: Number(height) };
  throw new RequestError('invalid_value', 'size', `--size must be WIDTHxHEIGHT, as 832x480, got ${text}`);
}
