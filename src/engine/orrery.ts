// The engine as a library: a loaded checkpoint on a device that plans and generates.
import { codecArguments, type Ffmpeg } from '../media/index.js';
import { defaultTiling } from '../models/wan-vae/index.js';
import type { Networks } from '../pipeline/networks.js';
import { type CostEstimate, estimateCost } from '../pipeline/plan/cost.js';
import { planHash } from '../pipeline/plan/plan-hash.js';
import { plan as makePlan } from '../pipeline/plan.js';
import type { Plan, PlanWarning } from '../pipeline/plan-types.js';
import { Previewer, type PreviewOptions } from '../pipeline/preview/previewer.js';
import type { RunCaches, RunCacheUse } from '../pipeline/run-caches.js';
import { checkDeviceOptions, checkModelOptions, checkSteps } from './checkpoint/check-options.js';
import { type DeviceMemoryUse, memoryUse, readCostConfig } from './checkpoint/cost-config.js';
import { describeLora, describeOffload, describePrecision } from './checkpoint/describe-options.js';
import { loadNetworks } from './checkpoint/load-networks.js';
import { adviseOnMemory, type MemoryNeed } from './checkpoint/memory-fit.js';
import { type OpenedModel, openModel } from './checkpoint/open-model.js';
import { type EngineConfig, readConfig } from './config.js';
import { type LibraryRequest, type PromptForm, readLibraryRequest } from './door/library/prompt-form.js';
import type { ReadRequest } from './door/read-request.js';
import { findEncoder } from './encoder.js';
import { blameInput } from './inputs/input-error.js';
import { loadInputs } from './inputs/load-inputs.js';
import { type InputSources, makeFacts, type ProbedInputs, probeInputs, sourcesOf } from './inputs/probe.js';
import type { LoadOptions, OpenDevice } from './load-options.js';
import {
  checkSynthetic,
  chooseDevice,
  type DeviceName,
  type OpenedDevice,
  openDevice,
  readGpuMemory,
} from './loader.js';
import { implyTask, naturalTarget, type OutputPaths, readTargets } from './outputs/choose-targets.js';
import type { ControlPaths } from './outputs/control-files.js';
import { checkTargets } from './outputs/output-target.js';
import { checkProvenanceSize } from './provenance/check-size.js';
import { hashCheckpoint, makeFingerprint } from './provenance/fingerprint.js';
import type { InputPlaces, Provenance } from './provenance/provenance.js';
import { checkRepeatable, type RepeatOptions, readOriginal, sourcesOfRepeat } from './provenance/repeat.js';
import type { ProgressEvent } from './run/events.js';
import { Generation } from './run/generation.js';
import { makeRoom, openCaches } from './run/open-caches.js';
import { runPlan } from './run/run-plan.js';
import { TurnQueue } from './run/turn-queue.js';
import { readWarmUpShape, warmUp } from './run/warm-up.js';
import { type Guard, openGuard } from './safety/guard.js';

/** How a generation runs. */
export interface GenerateOptions {
  /** Files to write, or a function that names them; the extension says what. Without any, the artifact holds the bytes. */
  readonly output?: OutputPaths | ((plan: Plan) => OutputPaths) | undefined;
  /** Where clips of the control maps go that are made from the input clip, `.mp4`; nowhere where absent. */
  readonly controls?: ControlPaths | undefined;
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
  #opened: Opened | undefined;

  private constructor(model: OpenedModel, device: DeviceName, config: EngineConfig, options: LoadOptions) {
    this.#model = model;
    this.#device = device;
    this.#config = config;
    this.#options = options;
    this.#guard = options.guard ?? openGuard({ isEnabled: true }, false);
  }

  /**
   * Opens a checkpoint, downloading it where needed. Weights are read at the first generation.
   * @throws CheckpointError, HubError, ConfigError or TokenizerError for the checkpoint, RequestError for the device and for
   *   options that it does not have
   */
  static async load(options: LoadOptions = {}): Promise<Orrery> {
    const given = options.config ?? readConfig();
    const config = { ...given, libraryRoots: [...(options.cudaLibraries ?? []), ...given.libraryRoots] };
    const device = chooseDevice(options.device ?? config.device, config.libraryRoots);
    checkDeviceOptions(device, options);
    const model = await openModel(options, config, (found) => checkModelOptions(found, options.quantization));
    return new Orrery(model, device, config, options);
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

  /** What is kept between generations, and how often it served; null until weights were read. */
  get kept(): RunCacheUse | null {
    return this.#opened?.caches.use ?? null;
  }

  /** One line on the open device; null until weights were read. */
  get deviceDescription(): string | null {
    return this.#opened?.device.description ?? null;
  }

  /** The open device and how weights are kept and frames decoded; null until weights were read. */
  get openDevice(): OpenDevice | null {
    if (this.#opened === undefined) return null;
    const { device } = this.#opened;
    return {
      ...device.memory,
      servesFp8: device.backend.weightFormats.includes('fp8'),
      setup: [
        device.description,
        ...describeLora(this.#model.checkpoint.lora),
        ...describePrecision(this.#options),
        ...describeOffload(this.#options.offload),
      ],
    };
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

  /** Runs a step of each shape, as `832x480x49`, so that its first request finds all made. @throws RequestError for a bad shape */
  async warmUp(shapes: readonly string[]): Promise<void> {
    const read = shapes.map(readWarmUpShape);
    const { networks, caches } = await this.#open();
    using _turn = await this.#turns.take();
    for (const shape of read) await warmUp(shape, { facts: this.#model.facts, networks, caches });
  }

  /** Makes ready what previews need; reads the weights. */
  async openPreviewer(options: PreviewOptions): Promise<Previewer> {
    const { networks } = await this.#open();
    return Previewer.open(networks, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#turns.idle();
    this.#opened?.caches[Symbol.dispose]();
    await this.#opened?.device.backend[Symbol.asyncDispose]();
    this.#opened = undefined;
    this.#model.checkpoint[Symbol.dispose]();
  }

  #probe(sources: InputSources, signal: AbortSignal | undefined): Promise<ProbedInputs> {
    return probeInputs(sources, { findFfmpeg: () => findEncoder(this.#config), signal });
  }

  #plan(read: ReadRequest, inputs: ProbedInputs): Planned {
    const { plan, warnings } = makePlan(read.request, makeFacts(read.request, this.#model.facts, inputs));
    checkSteps(plan.steps, this.#options.quantization);
    return {
      plan,
      warnings: [...read.warnings, ...warnings],
      estimate: this.#estimate(plan, this.#memoryUse()),
      hash: planHash(plan),
    };
  }

  #memoryUse(): DeviceMemoryUse {
    return memoryUse(this.#device, { ...this.#options, dtype: this.#options.dtype ?? this.#config.dtype });
  }

  #estimate(plan: Plan, use: DeviceMemoryUse): CostEstimate {
    return estimateCost(plan, readCostConfig(this.#model.checkpoint, use));
  }

  /** An error of a GPU's memory, with the options that would fit. */
  #advise(error: unknown, { cuda, memory }: OpenedDevice, need: (use: DeviceMemoryUse) => MemoryNeed): unknown {
    const gpu = cuda && { ...memory, servesFp8: cuda.weightFormats.includes('fp8') };
    return adviseOnMemory(error, gpu, { use: this.#memoryUse(), need });
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
      controls: options.controls,
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
    checkRepeatable(provenance, this.#model, inputs);
    const { plan, inputs: places, codecOptions } = provenance;
    yield { type: 'plan', plan, warnings: [] };
    const { controls, previewer, signal } = options;
    yield* this.#run(plan, {
      output,
      inputs,
      places,
      warnings: [],
      startedAt,
      codecOptions,
      controls,
      previewer,
      signal,
    });
  }

  async *#run(plan: Plan, run: RunParts): AsyncGenerator<ProgressEvent, void> {
    const { inputs, signal, places, codecOptions, controls = {} } = run;
    const output = typeof run.output === 'function' ? run.output(plan) : run.output;
    const targets = output === undefined ? [naturalTarget(plan)] : readTargets(output);
    await blameInput('video_codec_options', async () => codecArguments({ codecOptions }));
    checkTargets(targets, plan);
    try {
      const writesClips = targets.some(({ kind }) => kind === 'mp4') || Object.keys(controls).length > 0;
      const ffmpeg: Ffmpeg | null = writesClips ? await findEncoder(this.#config) : null;
      yield { type: 'phase', phase: 'load', chunk: 0, chunks: 1 };
      const { device, networks, caches } = await this.#open();
      signal?.throwIfAborted();
      makeRoom(caches, this.#estimate(plan, this.#memoryUse()).memoryBytes, roomOf(device));
      const fingerprint = makeFingerprint({
        checkpoint: hashCheckpoint(this.#model.checkpoint),
        device: [device.name, ...describePrecision(this.#options)].join(', '),
        blas: device.blas,
        ffmpeg: ffmpeg?.version ?? null,
      });
      const { lora } = this.#model.checkpoint;
      const origin: Omit<Provenance, 'framesSha256'> = {
        orrery: 1,
        plan,
        fingerprint,
        inputs: places,
        ...(lora === undefined ? {} : { lora }),
        codecOptions,
      };
      checkProvenanceSize(targets, origin);
      yield* runPlan(plan, {
        networks,
        caches,
        inputs: await loadInputs(plan, inputs),
        targets,
        controls,
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
      const device = this.#opened?.device;
      throw device === undefined ? error : this.#advise(error, device, (use) => this.#estimate(plan, use));
    }
  }

  async #open(): Promise<Opened> {
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
        offload: this.#options.offload ?? [],
      });
      if (unread.length > 0) onDebug?.(`not read: ${unread.join(', ')}`);
      const caches = openCaches(this.#device, this.#options.keep ?? {}, [
        hashCheckpoint(this.#model.checkpoint),
        device.name,
        ...describePrecision(this.#options),
      ]);
      this.#opened = { device, networks, caches };
      return this.#opened;
    } catch (error) {
      await device.backend[Symbol.asyncDispose]();
      throw this.#advise(error, device, (use) => {
        const { weightBytes, hostWeightBytes = 0 } = readCostConfig(this.#model.checkpoint, use);
        return { memoryBytes: weightBytes, hostMemoryBytes: hostWeightBytes };
      });
    }
  }
}

/** Bytes that jobs may take: of a GPU, which others may use too, what was free when it was opened. */
function roomOf({ cuda, memory }: OpenedDevice): number {
  return cuda === null ? memory.totalBytes : memory.freeBytes;
}

interface Opened {
  readonly device: OpenedDevice;
  readonly networks: Networks;
  readonly caches: RunCaches;
}

interface RunParts {
  readonly previewer: GenerateOptions['previewer'];
  readonly output: GenerateOptions['output'];
  readonly inputs: ProbedInputs;
  readonly places: InputPlaces;
  readonly warnings: readonly PlanWarning[];
  readonly startedAt: number;
  readonly codecOptions: Provenance['codecOptions'];
  readonly controls: GenerateOptions['controls'];
  readonly signal: AbortSignal | undefined;
}
