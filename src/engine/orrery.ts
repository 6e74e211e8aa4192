// The engine as a library: a loaded checkpoint on a device that plans and generates.
import { codecArguments, type Ffmpeg } from '../media/index.js';
import type { Quantization } from '../models/cosmos3-transformer/index.js';
import { defaultTiling } from '../models/wan-vae/index.js';
import type { Networks } from '../pipeline/networks.js';
import { type CostEstimate, estimateCost } from '../pipeline/plan/cost.js';
import { planHash } from '../pipeline/plan/plan-hash.js';
import { plan as makePlan } from '../pipeline/plan.js';
import type { Plan, PlanWarning } from '../pipeline/plan-types.js';
import { Previewer, type PreviewOptions } from '../pipeline/preview/previewer.js';
import { type DeviceMemoryUse, readCostConfig } from './checkpoint/cost-config.js';
import { loadNetworks } from './checkpoint/load-networks.js';
import { type ModelOptions, type OpenedModel, openModel } from './checkpoint/open-model.js';
import { type EngineConfig, readConfig } from './config.js';
import { type LibraryRequest, type PromptForm, readLibraryRequest } from './door/prompt-form.js';
import type { ReadRequest } from './door/read-request.js';
import { findEncoder } from './encoder.js';
import { blameInput } from './inputs/input-error.js';
import { loadInputs } from './inputs/load-inputs.js';
import { type InputSources, makeFacts, type ProbedInputs, probeInputs, sourcesOf } from './inputs/probe.js';
import {
  checkSynthetic,
  chooseDevice,
  type DeviceDtype,
  type DeviceName,
  type GpuChoices,
  type OpenedDevice,
  openDevice,
} from './loader.js';
import {
  checkTargets,
  checkWritable,
  fittingKinds,
  impliedByTargets,
  type OutputTarget,
  readOutputTargets,
} from './outputs/output-target.js';
import { checkProvenanceSize } from './provenance/check-size.js';
import { hashCheckpoint, makeFingerprint } from './provenance/fingerprint.js';
import type { InputPlaces, Provenance } from './provenance/provenance.js';
import { checkRepeatable, type RepeatOptions, readOriginal, sourcesOfRepeat } from './provenance/repeat.js';
import type { GpuMemory, ProgressEvent } from './run/events.js';
import { Generation } from './run/generation.js';
import { runPlan } from './run/run-plan.js';
import { TurnQueue } from './run/turn-queue.js';
import { type Guard, openGuard } from './safety/guard.js';

/** How an engine is loaded. What is absent comes from the environment, then from defaults. */
export interface LoadOptions extends ModelOptions {
  readonly device?: string | undefined;
  /** Threads of the CPU device. */
  readonly threads?: number | undefined;
  /** What networks compute in on a GPU; `bf16` where absent. */
  readonly dtype?: DeviceDtype | undefined;
  /** Folders that CUDA's libraries are sought in before all others. */
  readonly cudaLibraries?: readonly string[] | undefined;
  /** Linear layers of the transformer in eight bits, on GPUs that can; none where absent. */
  readonly quantization?: Quantization | undefined;
  /** How a GPU computes. */
  readonly gpu?: GpuChoices | undefined;
  /** Decode frames by tiles: less memory, a little more time, slightly other pixels. */
  readonly vaeTiling?: boolean | undefined;
  /** Environment settings to use instead of the process's own. */
  readonly config?: EngineConfig | undefined;
  /** Checks prompts of requests that do not turn that off; the bundled word list where absent. */
  readonly guard?: Pick<Guard, 'checkPrompt'> | undefined;
  /** Told what is worth knowing but no error: names in the checkpoint that nothing reads. */
  readonly onDebug?: ((message: string) => void) | undefined;
}

/** One path, or several. */
export type OutputPaths = string | readonly string[];

/** How a generation runs. */
export interface GenerateOptions {
  /** Files to write, or a function that names them; the extension says what. Without any, the artifact holds the bytes. */
  readonly output?: OutputPaths | ((plan: Plan) => OutputPaths) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Reports small pictures on the way; from `openPreviewer` of the same object. */
  readonly previewer?: Previewer | undefined;
  /** Unknown parameters of a prompt form are errors instead of warnings. */
  readonly strict?: boolean | undefined;
}

/** A plan with what lies beside it. */
export interface Planned {
  readonly plan: Plan;
  readonly warnings: readonly PlanWarning[];
  readonly estimate: CostEstimate;
  /** Names the plan: equal plans have equal hashes. */
  readonly hash: string;
}

/** A request in either form, or one that the door has read. */
export type RequestInput = LibraryRequest | PromptForm;

/** A checkpoint on a device. Runs one generation at a time; further ones wait their turn. */
export class Orrery implements AsyncDisposable {
  readonly #model: OpenedModel;
  readonly #device: DeviceName;
  readonly #config: EngineConfig;
  readonly #options: LoadOptions;
  readonly #guard: Pick<Guard, 'checkPrompt'>;
  readonly #turns = new TurnQueue();
  #opened: { readonly device: OpenedDevice; readonly networks: Networks } | undefined;

  private constructor(model: OpenedModel, device: DeviceName, config: EngineConfig, options: LoadOptions) {
    this.#model = model;
    this.#device = device;
    this.#config = config;
    this.#options = options;
    this.#guard = options.guard ?? openGuard({ isEnabled: true }, false);
  }

  /**
   * Opens a checkpoint, downloading it where needed. Weights are read at the first generation.
   * @throws CheckpointError, HubError, ConfigError or TokenizerError for the checkpoint, RequestError for the device
   */
  static async load(options: LoadOptions = {}): Promise<Orrery> {
    const given = options.config ?? readConfig();
    const config = { ...given, libraryRoots: [...(options.cudaLibraries ?? []), ...given.libraryRoots] };
    const device = chooseDevice(options.device ?? config.device, config.libraryRoots);
    return new Orrery(await openModel(options, config), device, config, options);
  }

  /** The checkpoint's name in plans. */
  get model(): string {
    return this.#model.facts.id;
  }

  /** Its folder or file. */
  get path(): string {
    return this.#model.checkpoint.path;
  }

  get device(): string {
    return this.#device;
  }

  /** One line on the open device; null until weights were read. */
  get deviceDescription(): string | null {
    return this.#opened?.device.description ?? null;
  }

  /**
   * Answers every question of a request without doing its work.
   * @throws RequestError for a request that cannot be served
   */
  async plan(request: RequestInput, options: GenerateOptions = {}): Promise<Planned> {
    return this.planRead(readLibraryRequest(request, { strict: options.strict === true }), options);
  }

  /** Plans what the door has read. */
  async planRead(read: ReadRequest, options: GenerateOptions = {}): Promise<Planned> {
    const { output, signal } = options;
    const implied = implyTask(read, output);
    await using inputs = await this.#probe(sourcesOf(implied.request), signal);
    return this.#plan(implied, inputs);
  }

  /**
   * Generates. The work starts when the result is iterated or awaited.
   * @returns progress events that end in the artifact; `.result()` gives the artifact alone
   */
  generate(request: RequestInput, options: GenerateOptions = {}): Generation {
    return new Generation(
      this.#generate(() => readLibraryRequest(request, { strict: options.strict === true }), options),
    );
  }

  /** Generates what the door has read. */
  generateRead(read: ReadRequest, options: GenerateOptions = {}): Generation {
    return new Generation(this.#generate(() => read, options));
  }

  /**
   * Repeats the plan of an artifact.
   * @param file an artifact that carries its provenance
   */
  repeat(file: string, options: RepeatOptions & GenerateOptions = {}): Generation {
    return new Generation(this.#repeat(file, options));
  }

  /** Reads the weights now instead of at the first generation. @throws WeightError, CheckpointError */
  async loadWeights(): Promise<void> {
    await this.#open();
  }

  /** Makes ready what previews need; reads the weights. */
  async openPreviewer(options: PreviewOptions): Promise<Previewer> {
    const { networks } = await this.#open();
    return Previewer.open(networks, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#turns.idle();
    await this.#opened?.device.backend[Symbol.asyncDispose]();
    this.#opened = undefined;
    this.#model.checkpoint[Symbol.dispose]();
  }

  #probe(sources: InputSources, signal: AbortSignal | undefined): Promise<ProbedInputs> {
    return probeInputs(sources, { findFfmpeg: () => findEncoder(this.#config), signal });
  }

  #plan(read: ReadRequest, inputs: ProbedInputs): Planned {
    const { plan, warnings } = makePlan(read.request, makeFacts(read.request, this.#model.facts, inputs));
    return {
      plan,
      warnings: [...read.warnings, ...warnings],
      estimate: estimateCost(plan, readCostConfig(this.#model.checkpoint, this.#memoryUse())),
      hash: planHash(plan),
    };
  }

  #memoryUse(): DeviceMemoryUse {
    const { dtype = this.#config.dtype ?? 'bf16', quantization } = this.#options;
    return this.#device === 'cpu' ? { kind: 'cpu' } : { kind: 'gpu', dtype, isQuantized: quantization !== undefined };
  }

  async *#generate(read: () => ReadRequest, options: GenerateOptions): AsyncGenerator<ProgressEvent, void> {
    const startedAt = performance.now();
    const { output } = options;
    if (output !== undefined && typeof output !== 'function') readTargets(output);
    const request = implyTask(read(), output);
    const { prompt } = request.request;
    if (request.guardrails && prompt !== '') await this.#guard.checkPrompt(prompt, options.signal);
    using _turn = await this.#turns.take(options.signal);
    await using inputs = await this.#probe(sourcesOf(request.request), options.signal);
    const { plan, warnings } = this.#plan(request, inputs);
    yield { type: 'plan', plan, warnings };
    const places: InputPlaces = { model: this.#model.given, ...inputs.places };
    yield* this.#run(plan, {
      output,
      inputs,
      places,
      warnings,
      startedAt,
      codecOptions: request.codecOptions,
      previewer: options.previewer,
      signal: options.signal,
    });
  }

  async *#repeat(file: string, options: RepeatOptions & GenerateOptions): AsyncGenerator<ProgressEvent, void> {
    const startedAt = performance.now();
    const { output } = options;
    if (output !== undefined && typeof output !== 'function') readTargets(output);
    const { provenance } = await readOriginal(file);
    using _turn = await this.#turns.take(options.signal);
    await using inputs = await this.#probe(sourcesOfRepeat(provenance, options), options.signal);
    checkRepeatable(provenance, this.#model.facts, inputs);
    const { plan, inputs: places, codecOptions } = provenance;
    yield { type: 'plan', plan, warnings: [] };
    const { previewer, signal } = options;
    yield* this.#run(plan, { output, inputs, places, warnings: [], startedAt, codecOptions, previewer, signal });
  }

  async *#run(plan: Plan, run: RunParts): AsyncGenerator<ProgressEvent, void> {
    const { inputs, signal, places, codecOptions } = run;
    const output = typeof run.output === 'function' ? run.output(plan) : run.output;
    const targets = output === undefined ? [naturalTarget(plan)] : readTargets(output);
    await blameInput('video_codec_options', async () => codecArguments({ codecOptions }));
    checkTargets(targets, plan);
    try {
      const ffmpeg: Ffmpeg | null = targets.some(({ kind }) => kind === 'mp4') ? await findEncoder(this.#config) : null;
      yield { type: 'phase', phase: 'load', chunk: 0, chunks: 1 };
      const { device, networks } = await this.#open();
      signal?.throwIfAborted();
      const fingerprint = makeFingerprint({
        checkpoint: hashCheckpoint(this.#model.checkpoint),
        device: this.#options.vaeTiling === true ? `${device.name}, tiled decoder` : device.name,
        blas: device.blas,
        ffmpeg: ffmpeg?.version ?? null,
      });
      const origin: Omit<Provenance, 'framesSha256'> = { orrery: 1, plan, fingerprint, inputs: places, codecOptions };
      checkProvenanceSize(targets, origin);
      yield* runPlan(plan, {
        networks,
        inputs: await loadInputs(plan, inputs),
        targets,
        keepsData: output === undefined,
        ffmpeg,
        origin,
        warnings: run.warnings,
        tiling: this.#options.vaeTiling === true ? defaultTiling : null,
        readGpuMemory: () => readGpuMemory(device),
        startedAt: run.startedAt,
        previewer: run.previewer,
        signal,
      });
    } catch (error) {
      // What an abort breaks on its way speaks of broken pipes; the caller knows why it aborted.
      signal?.throwIfAborted();
      throw error;
    }
  }

  async #open(): Promise<{ readonly device: OpenedDevice; readonly networks: Networks }> {
    if (this.#opened !== undefined) return this.#opened;
    checkSynthetic(this.#options.synthetic, this.#device);
    const { threads = this.#config.threads, dtype = this.#config.dtype, gpu, onDebug } = this.#options;
    const { blas, libraryRoots, kernelCache } = this.#config;
    const device = await openDevice(this.#device, { threads, blas, dtype, libraryRoots, kernelCache, gpu });
    try {
      onDebug?.(device.description);
      const { networks, unread } = loadNetworks(this.#model.checkpoint, device.backend, {
        cuda: device.cuda,
        quantization: this.#options.quantization ?? null,
      });
      if (unread.length > 0) onDebug?.(`not read: ${unread.join(', ')}`);
      this.#opened = { device, networks };
      return this.#opened;
    } catch (error) {
      await device.backend[Symbol.asyncDispose]();
      throw error;
    }
  }
}

function readGpuMemory({ cuda }: OpenedDevice): GpuMemory | null {
  if (cuda === null) return null;
  const { peakReserved, peakAllocated } = cuda.report().memory;
  return { reserved: peakReserved, allocated: peakAllocated };
}

interface RunParts {
  readonly previewer: GenerateOptions['previewer'];
  readonly output: GenerateOptions['output'];
  readonly inputs: ProbedInputs;
  readonly places: InputPlaces;
  readonly warnings: readonly PlanWarning[];
  readonly startedAt: number;
  readonly codecOptions: Provenance['codecOptions'];
  readonly signal: AbortSignal | undefined;
}

/** Words that are to become a picture are a text-to-image request. */
function implyTask(read: ReadRequest, output: GenerateOptions['output']): ReadRequest {
  if (output === undefined || typeof output === 'function') return read;
  return { ...read, request: impliedByTargets(read.request, readOutputTargets([output].flat())) };
}

function readTargets(output: OutputPaths): readonly OutputTarget[] {
  const targets = readOutputTargets([output].flat());
  checkWritable(targets);
  return targets;
}

function naturalTarget(plan: Plan): OutputTarget {
  const kind = fittingKinds(plan)[0] ?? 'json';
  return { path: `result.${kind}`, kind };
}
