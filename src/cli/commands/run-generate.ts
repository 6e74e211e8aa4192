// Runs a generation and shows it: progress, warnings, files, time.
import { extname } from 'node:path';
import type { Artifact, Generation, Original, Orrery, Plan, ProgressEvent, ReadRequest } from '../../engine/index.js';
import { fittingKinds, readOutputTargets } from '../../engine/outputs/output-target.js';
import { formatBytes } from '../../engine/tools/format-bytes.js';
import { RequestError } from '../../protocol/index.js';
import { watchInterrupts } from '../interrupt.js';
import { defaultOutputName } from '../output-name.js';
import { printLine, printNote } from '../print.js';
import { describeDownload, describeSteps, Progress } from '../progress.js';
import type { GenerateFlags } from './flags/generate-flags.js';
import { readFlags, readLoadFlags } from './flags/request-flags.js';

/**
 * Generates what the flags ask for.
 * @throws RequestError and the engine's errors; Interrupted when stopped
 */
export async function runGenerate(flags: GenerateFlags): Promise<void> {
  if (!toStdout(flags) && flags.output !== undefined) readOutputTargets(flags.output);
  const read = flags.from === undefined ? readFlags(flags) : undefined;
  // What is wrong with the flags is said before the engine is even loaded.
  const engine = await import('../../engine/index.js');
  const original = flags.from === undefined ? undefined : await engine.readOriginal(flags.from);
  const screen = new Screen(flags);
  using progress = screen.progress;
  using interrupts = watchInterrupts(() => {
    progress.clear();
    screen.note('stopping after this step; press Ctrl-C again to leave at once');
  });
  const { signal } = interrupts;
  await using orrery = await engine.Orrery.load({
    ...readLoadFlags(flags, readModel(flags, read, original)),
    guard: engine.openPromptGuard(engine.readConfig()),
    signal,
    onDownload: (state) => progress.show(describeDownload('download', state)),
  });
  progress.clear();
  const generation = start(orrery, { flags, read, original, signal });
  const artifact = await screen.follow(generation);
  if (original !== undefined) await screen.compare(original, artifact);
  screen.finish(artifact);
}

function readModel(
  flags: GenerateFlags,
  read: ReadRequest | undefined,
  original: Original | undefined,
): string | undefined {
  if (read !== undefined) return read.model;
  return typeof flags.model === 'string' ? flags.model : (original?.provenance.inputs.model ?? undefined);
}

interface StartOptions {
  readonly flags: GenerateFlags;
  readonly read: ReadRequest | undefined;
  readonly original: Original | undefined;
  readonly signal: AbortSignal;
}

function start(orrery: Orrery, { flags, read, original, signal }: StartOptions): Generation {
  const output = toStdout(flags) ? undefined : (flags.output ?? nameOutput(flags, original));
  if (read !== undefined) return orrery.generateRead(read, { output, signal });
  if (original === undefined)
    throw new RequestError('missing_parameter', 'prompt', 'prompt is missing: say in words what to make');
  refuseParameters(flags);
  const inputs = readFlags({ prompt: '', image: flags.image, video: flags.video } as GenerateFlags);
  return orrery.repeat(original.path, { output, signal, image: inputs.request.image, video: inputs.request.video });
}

/** A repetition answers to the plan alone; parameters beside it would be ignored. */
function refuseParameters(flags: GenerateFlags): void {
  const allowed = new Set([
    'from',
    'image',
    'video',
    'output',
    'model',
    'device',
    'dtype',
    'threads',
    'cudaLibraries',
    'fp8Attention',
    'fp8FastAccumulation',
    'tuneProducts',
    'synthetic',
    'loraPath',
    'loraScale',
    'quantization',
    'quantizationExclude',
    'quantizationWideSteps',
    'keepWide',
    'enableLayerwiseOffload',
    'releaseTextTower',
    'vaeUseTiling',
    'vaeUseSlicing',
    'part',
    'revision',
    'quiet',
    'json',
    'debug',
  ]);
  const other = Object.keys(flags).find((name) => !allowed.has(name));
  if (other === undefined) return;
  const flag = `--${other.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  throw new RequestError(
    'conflict',
    'from',
    `${flag} cannot be combined with --from: the plan in the file says everything; leave it out`,
  );
}

/** Names a file after the prompt, of the kind that the task is about; a repetition keeps the original's. */
function nameOutput({ prompt }: GenerateFlags, original: Original | undefined): (plan: Plan) => string {
  return (plan) => {
    if (original !== undefined) return defaultOutputName('again', extname(original.path).slice(1));
    const kind = plan.task === 'inverse-dynamics' ? 'json' : (fittingKinds(plan)[0] ?? 'json');
    return defaultOutputName(String(prompt ?? plan.task), kind);
  };
}

/** Whether the result goes to stdout. @throws RequestError when that is a terminal, or not the only output */
function toStdout({ output = [], json }: GenerateFlags): boolean {
  if (!output.includes('-')) return false;
  const refuse = (why: string): never => {
    throw new RequestError('conflict', 'output', `output - ${why}`);
  };
  if (output.length > 1 || json === true) refuse('writes to stdout and must be the only output, without --json');
  if (process.stdout.isTTY) refuse('would write binary data to a terminal; redirect it, or name a file');
  return true;
}

/** What the terminal shows of one generation. */
class Screen {
  readonly progress: Progress;
  readonly #isQuiet: boolean;
  readonly #isJson: boolean;
  readonly #isDebug: boolean;

  constructor(flags: GenerateFlags) {
    this.#isDebug = flags.debug === true;
    this.#isQuiet = flags.quiet === true;
    this.#isJson = flags.json === true;
    this.progress = new Progress(this.#isQuiet || this.#isJson);
  }

  /** A line on stderr, unless quiet. */
  note(text: string): void {
    if (this.#isQuiet) return;
    this.progress.clear();
    printNote(text);
  }

  /** Shows a generation to its end. */
  async follow(generation: Generation): Promise<Artifact> {
    for await (const event of generation) {
      if (event.type === 'artifact') return event.artifact;
      if (event.type === 'plan') for (const { message } of event.warnings) this.note(`warning: ${message}`);
      if (this.#isJson) this.#printEvent(event);
      else this.#draw(event);
    }
    throw new Error('the generation ended without a result');
  }

  /** Says whether a repetition gave the same. */
  async compare(original: Original, artifact: Artifact): Promise<void> {
    const { compareWithOriginal } = await import('../../engine/index.js');
    const comparison = await compareWithOriginal(original, artifact);
    const { promised, differing, framesMatch, bytesMatch } = comparison;
    if (this.#isJson) printLine(JSON.stringify({ type: 'comparison', original: original.path, ...comparison }));
    const promise =
      promised === 'bytes'
        ? 'equal fingerprints: bytes must match'
        : `fingerprints differ (${differing.join(', ')}): frames should match`;
    const say = (what: string, match: boolean | null) =>
      match === null ? [] : [`${what} ${match ? 'match' : 'DIFFER'}`];
    const found = [...say('frames', framesMatch), ...say('bytes', bytesMatch)];
    this.note(
      `${promise}; ${found.length === 0 ? 'nothing to compare: write a file of the same kind' : found.join(', ')}`,
    );
    if (promised === 'bytes' && (bytesMatch === false || framesMatch === false)) {
      throw new Error(
        `${original.path} was not reproduced although the fingerprints are equal; run orrery doctor, and report it`,
      );
    }
  }

  /** Names the files and the time. */
  finish(artifact: Artifact): void {
    const { files, seconds, peakMemoryBytes, gpuMemory, work } = artifact;
    if (this.#isJson) {
      const { data: _, ...rest } = artifact;
      printLine(JSON.stringify({ type: 'artifact', ...rest }));
    }
    if (artifact.data !== null) process.stdout.write(artifact.data);
    if (this.#isQuiet || this.#isJson) return;
    this.progress.clear();
    const print = artifact.data === null ? printLine : printNote;
    for (const { path, bytes } of files) print(`${path}  ${describeArtifact(artifact)}, ${formatBytes(bytes)}`);
    print(`Peak memory: ${formatBytes(peakMemoryBytes)}`);
    if (gpuMemory !== null) {
      const { reserved, allocated } = gpuMemory;
      print(`Worker peak GPU memory (reserved): ${gib(reserved)}`);
      if (this.#isDebug)
        printNote(
          `GPU memory: reserved ${gib(reserved)}, allocated ${gib(allocated)}, pool overhead ${gib(reserved - allocated)}`,
        );
    }
    if (work.computedSteps < work.steps) print(`Computed ${work.computedSteps} of ${work.steps} steps`);
    print(`Total generation time: ${seconds.toFixed(2)} s`);
  }

  #printEvent(event: ProgressEvent): void {
    if (this.#isQuiet || event.type === 'frames') return;
    printLine(JSON.stringify(event));
  }

  #draw(event: ProgressEvent): void {
    if (event.type === 'step') {
      const { step, steps, chunk, chunks } = event;
      const label = chunks === 1 ? 'denoise' : `denoise ${chunk + 1}/${chunks}`;
      this.progress.show({ label, done: step, total: steps, detail: describeSteps(event) });
    } else if (event.type === 'phase' && event.phase === 'decode') this.progress.clear();
  }
}

const gib = (bytes: number) => `${(bytes / 2 ** 30).toFixed(2)} GiB`;

function describeArtifact({ plan, width, height, frames, fps, hasSound, action }: Artifact): string {
  if (frames === 0) return action === null ? plan.task : `${plan.task}, actions ${action.shape.join(' x ')}`;
  const clip = frames === 1 ? '' : `, ${frames} frames, ${fps} fps`;
  return `${plan.task}, ${width}x${height}${clip}${hasSound ? ', sound' : ''}, seed ${plan.seed}`;
}
