// `orrery bench`: how fast this machine is, and where the time of a job goes.
import { type Command, Option } from 'commander';
import { RequestError } from '../../protocol/index.js';
import { readJsonObject } from '../parameter-flags.js';
import { formatTable, printLine, printNote } from '../print.js';
import { addGpuFlags, type DeviceFlags, readGpuFlags } from './flags/device-flags.js';
import {
  addDecoderFlags,
  addModelFlags,
  type DecoderFlags,
  type ModelFlags,
  readDecoderFlags,
  readModelFlags,
} from './flags/model-flags.js';

interface BenchFlags extends Omit<DeviceFlags, 'threads'>, ModelFlags, DecoderFlags {
  readonly threads?: string;
  readonly seconds?: string;
  readonly model?: string;
  readonly task?: string;
  readonly size?: string;
  readonly numFrames?: string;
  readonly numInferenceSteps?: string;
  readonly guidanceScale?: string;
  readonly flowShift?: string;
  readonly image?: string;
  readonly video?: string;
  readonly extraBody?: string;
  readonly separateBranches?: boolean;
  readonly ops?: boolean;
  readonly textTokens?: string;
  readonly skipSteps?: string;
  readonly phase?: 'all' | 'denoise' | 'decode';
  readonly runs?: string;
  readonly json?: boolean;
}

const examples = `
Examples:
  orrery bench cpu
  orrery bench cpu --threads 1,2,4 --json
  orrery bench --device cuda --synthetic nano --task text-to-video --size 832x480 --num-frames 49 \\
    --num-inference-steps 10 --guidance-scale 1 --text-tokens 300 --json

With --task, or any other flag of a job, one is measured: load, text, steps, decode, kinds of kernels, memory, and what the device could do.
ORRERY_BLAS=off measures the built-in kernels where an OpenBLAS is installed.`;

/** Adds the command. */
export function addBenchCommand(program: Command): void {
  const command = program
    .command('bench')
    .description('measure matmul, attention and conv3d of the CPU, or with flags of a job where its time goes')
    .argument('[device]', 'cpu', 'cpu')
    .option('--threads <list>', 'thread counts, as 1,2,4; one and all where absent. Of a job: one count')
    .option('--seconds <n>', 'seconds per measurement, without a job')
    .option('--task <name>', 'task of the job; it follows from the other flags where absent')
    .option('--model <model>', 'checkpoint of the job')
    .option('--size <WxH>', 'size of the job')
    .option('--num-frames <n>', 'frames of the job')
    .option('--num-inference-steps <n>', 'steps of the job')
    .option('--guidance-scale <g>', 'guidance of the job; 1 runs one branch')
    .option('--flow-shift <s>', 'flow shift of the job')
    .option('--image <file>', 'picture that the job starts from')
    .option('--video <file>', 'clip that the job continues, or reads controls or actions from')
    .option('--extra-body <json>', 'other parameters of the job as a JSON object, or @FILE; they win over flags')
    .option('--text-tokens <n>', "the prompt's tokens, repeated or cut to so many")
    .option('--skip-steps <list>', 'steps that reuse a velocity, as 3,5,7')
    .option('--separate-branches', 'each branch goes through the network by itself, however few its rows')
    .addOption(new Option('--phase <name>', 'part of the job to measure').choices(['all', 'denoise', 'decode']))
    .option('--no-ops', 'leave out the times of single ops')
    .option('--runs <n>', 'runs of the job, the cold one included (3 where absent)');
  addGpuFlags(command);
  addModelFlags(command);
  addDecoderFlags(command);
  command
    .option('--json', 'print one JSON object')
    .option('--debug', 'show stack traces')
    .addHelpText('after', examples)
    .action((device: string, flags: BenchFlags) => (isJob(flags) ? benchJob(flags) : benchCpu(device, flags)));
}

/** Flags that say nothing of a job. */
const machineFlags: ReadonlySet<string> = new Set(['threads', 'seconds', 'json', 'debug', 'ops']);

function isJob(flags: BenchFlags): boolean {
  return Object.entries(flags).some(
    ([name, value]) => !machineFlags.has(name) && !(name === 'device' && value === 'cpu'),
  );
}

async function benchCpu(device: string, flags: BenchFlags): Promise<void> {
  if (device !== 'cpu')
    throw new RequestError(
      'invalid_value',
      'device',
      `device ${device} cannot be measured without a job; there is: cpu, or give --device ${device}`,
    );
  const threads = flags.threads?.split(',').map((text) => readPositive('threads', text, true));
  const seconds = flags.seconds === undefined ? undefined : readPositive('seconds', flags.seconds, false);
  const { benchMachine } = await import('../../engine/index.js');
  const bench = await benchMachine({ threads, seconds });
  if (flags.json === true) {
    printLine(JSON.stringify(bench));
    return;
  }
  for (const line of bench.devices) printLine(line);
  const rows = bench.rows.map((row) => [row.op, String(row.threads), row.gflops.toFixed(1)]);
  printLine(formatTable([['op', 'threads', 'GFLOP/s'], ...rows]));
  const { frames, width, height, steps, seconds: time } = bench.clip;
  printLine(`clip of ${frames} frames, ${width}x${height}, ${steps} steps: ${time.toFixed(2)} s`);
}

async function benchJob(flags: BenchFlags): Promise<void> {
  if (flags.seconds !== undefined)
    throw new RequestError('conflict', 'seconds', '--seconds says nothing of a job; leave it out, or give --runs');
  const { benchPipeline, describeBench, readMediaReference, readRequest } = await import('../../engine/index.js');
  const fields = {
    prompt: 'A red ball rolls to the right across a wooden table while the camera follows it slowly.',
    ...given('task', flags.task),
    ...given('size', flags.size),
    ...given('num_frames', flags.numFrames),
    ...given('num_inference_steps', flags.numInferenceSteps),
    ...given('guidance_scale', flags.guidanceScale),
    ...given('flow_shift', flags.flowShift),
    seed: 1,
    ...(flags.extraBody === undefined ? {} : readJsonObject('extra_body', flags.extraBody)),
  };
  const request = readRequest({
    fields: {},
    extra: fields,
    ...(flags.image === undefined ? {} : { image: readMediaReference('image', flags.image) }),
    ...(flags.video === undefined ? {} : { video: readMediaReference('video', flags.video) }),
  });
  const whole = (name: string, text: string | undefined) =>
    text === undefined ? undefined : readPositive(name, text, true);
  const bench = await benchPipeline({
    request,
    model: flags.model,
    ...readGpuFlags(flags),
    ...readModelFlags(flags),
    ...readDecoderFlags(flags),
    separateBranches: flags.separateBranches,
    ops: flags.ops,
    threads: whole('threads', flags.threads),
    textTokens: whole('text-tokens', flags.textTokens),
    skipSteps: flags.skipSteps?.split(',').map((text) => readPositive('skip-steps', text, true)),
    phase: flags.phase,
    runs: whole('runs', flags.runs),
    onProgress: flags.json === true ? undefined : printNote,
  });
  if (flags.json === true) printLine(JSON.stringify(bench));
  else for (const line of describeBench(bench)) printLine(line);
}

function given(name: string, value: string | undefined): Readonly<Record<string, string>> {
  return value === undefined ? {} : { [name]: value };
}

function readPositive(name: string, text: string, isWhole: boolean): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value) && (!isWhole || Number.isInteger(value))) return value;
  throw new RequestError(
    'invalid_value',
    name,
    `--${name} must be ${isWhole ? 'a whole number' : 'a number'} above 0, got ${text}`,
  );
}
