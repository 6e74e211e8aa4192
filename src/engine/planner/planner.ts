// Plans requests without a device: what the process that answers clients needs of a checkpoint. Reads no weights.
import type { Ffmpeg } from '../../media/index.js';
import { type CostEstimate, estimateCost } from '../../pipeline/plan/cost.js';
import { planHash } from '../../pipeline/plan/plan-hash.js';
import { plan as makePlan } from '../../pipeline/plan.js';
import type { Plan, PlanWarning } from '../../pipeline/plan-types.js';
import { checkModelOptions, checkSteps } from '../checkpoint/check-options.js';
import { type DeviceMemoryUse, type MemoryOptions, memoryUse, readCostConfig } from '../checkpoint/cost-config.js';
import { type ModelOptions, type OpenedModel, openModel } from '../checkpoint/open-model.js';
import { type EngineConfig, readConfig } from '../config.js';
import { type ReadRequest, readRequest, type WireRequest } from '../door/read-request.js';
import { findEncoder } from '../encoder.js';
import { makeFacts, probeInputs, sourcesOf } from '../inputs/probe.js';
import type { DeviceName } from '../loader.js';
import { describeModel, type ModelDescription } from './describe-model.js';

/** A request that the door has read and that has a plan. */
export interface PlannedRequest {
  readonly read: ReadRequest;
  readonly plan: Plan;
  readonly warnings: readonly PlanWarning[];
  readonly estimate: CostEstimate;
  /** Names the plan: equal plans have equal hashes. */
  readonly hash: string;
}

/** Which checkpoint, and the device that will run the plans. */
export interface PlannerOptions extends ModelOptions {
  readonly config?: EngineConfig;
  /** The CPU where absent. */
  readonly device?: DeviceName;
  readonly memory?: MemoryOptions;
}

/** A checkpoint opened for planning. */
export class Planner implements Disposable {
  readonly #model: OpenedModel;
  readonly #config: EngineConfig;
  /** How the device that runs the plans keeps the checkpoint. */
  readonly use: DeviceMemoryUse;
  #ffmpeg: Promise<Ffmpeg> | undefined;

  private constructor(model: OpenedModel, config: EngineConfig, use: DeviceMemoryUse) {
    this.#model = model;
    this.#config = config;
    this.use = use;
  }

  /**
   * Opens a checkpoint, downloading it where needed.
   * @throws CheckpointError, HubError, ConfigError or TokenizerError for the checkpoint, RequestError for a quantisation that it cannot have
   */
  static async open(options: PlannerOptions = {}): Promise<Planner> {
    const { config = readConfig(), device = 'cpu', memory } = options;
    const use = memoryUse(device, memory);
    return new Planner(
      await openModel(options, config, (found) => checkModelOptions(found, use.quantization)),
      config,
      use,
    );
  }

  /** What the checkpoint is and what it does where a request is silent. */
  describe(): ModelDescription {
    return describeModel(this.#model);
  }

  /** The ffmpeg that clips are read with, looked for once. @throws MediaError `ffmpeg_missing` */
  findFfmpeg(): Promise<Ffmpeg> {
    this.#ffmpeg ??= findEncoder(this.#config);
    return this.#ffmpeg;
  }

  /**
   * Reads, probes and plans.
   * @throws RequestError for a request that cannot be served
   */
  async plan(wire: WireRequest, options: { readonly signal?: AbortSignal | undefined } = {}): Promise<PlannedRequest> {
    const read = readRequest(wire);
    const tools = { findFfmpeg: () => this.findFfmpeg(), signal: options.signal };
    await using inputs = await probeInputs(sourcesOf(read.request), tools);
    const { plan, warnings } = makePlan(read.request, makeFacts(read.request, this.#model.facts, inputs));
    checkSteps(plan.steps, this.use.quantization);
    return {
      read,
      plan,
      warnings: [...read.warnings, ...warnings],
      estimate: this.estimate(plan),
      hash: planHash(plan),
    };
  }

  /** What a plan costs, on the device as it is or kept in another way. */
  estimate(plan: Plan, use: DeviceMemoryUse = this.use): CostEstimate {
    return estimateCost(plan, readCostConfig(this.#model.checkpoint, use));
  }

  [Symbol.dispose](): void {
    this.#model.checkpoint[Symbol.dispose]();
  }
}
