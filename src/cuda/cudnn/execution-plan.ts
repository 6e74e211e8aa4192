// An execution plan of cuDNN: a graph of operations with the engine that runs it, made by the heuristics or from what a plan wrote down.
import { addressOf } from '../../native/index.js';
import {
  cudnnBackendAttributeName as attribute,
  type Cudnn,
  cudnnBackendHeurMode,
  cudnnBackendDescriptorType as descriptor,
  cudnnBackendAttributeType as type,
} from '../ffi/cudnn.js';
import { CudaError } from '../ffi/errors.js';
import { cudnnError, Descriptors } from './descriptors.js';

/** What is to be planned: `key` names it among all, `uids` are its operands in the order in which `execute` takes them. */
export interface GraphRecipe {
  readonly key: string;
  readonly uids: readonly number[];
  /** Makes the operations; returns them finalised. */
  build(d: Descriptors): readonly number[];
}

/** Engines that want more are passed over, bytes. */
const mostWorkspace = 1 << 30;
/** Engine configurations asked for; the heuristics put the fastest first. */
const mostConfigs = 16;

export class ExecutionPlan implements Disposable {
  /** Bytes of device memory that a run needs. */
  readonly workspaceBytes: number;
  /** A recorded graph launches its kernels: it must live as long as those may be replayed. */
  isRecorded = false;
  readonly #d: Descriptors;
  readonly #plan: number;
  readonly #uids: BigInt64Array;
  readonly #addresses: BigUint64Array;
  readonly #workspace = new BigUint64Array(1);
  readonly #number = new Float32Array(1);
  readonly #numberAt = Number(addressOf(this.#number));

  constructor(
    d: Descriptors,
    plan: number,
    uids: readonly number[],
    /** The engine's number among cuDNN's for this graph. */
    readonly engine: number,
  ) {
    this.#d = d;
    this.#plan = plan;
    this.#uids = BigInt64Array.from(uids, BigInt);
    this.#addresses = new BigUint64Array(uids.length);
    this.workspaceBytes = d.integer(plan, attribute.EXECUTION_PLAN_WORKSPACE_SIZE);
  }

  /** The plan in words, compiled kernels included: `restorePlan` makes it again. */
  describe(): Buffer {
    return this.#d.text(this.#plan, attribute.EXECUTION_PLAN_JSON_REPRESENTATION);
  }

  /** Where a number of the host's lies for the next `execute`, which reads it before it returns. */
  hostNumber(value: number): number {
    this.#number[0] = value;
    return this.#numberAt;
  }

  /** Enqueues a run on the handle's stream. Addresses are in the recipe's order. @throws CudaError */
  execute(handle: number, addresses: readonly number[], workspace: number): void {
    const { cudnn } = this.#d;
    for (const [i, address] of addresses.entries()) this.#addresses[i] = BigInt(address);
    this.#workspace[0] = BigInt(workspace);
    using pack = new Descriptors(cudnn);
    const made = pack.make(descriptor.VARIANT_PACK);
    pack.set(made, attribute.VARIANT_PACK_UNIQUE_IDS, type.INT64, this.#uids);
    pack.set(made, attribute.VARIANT_PACK_DATA_POINTERS, type.VOID_PTR, this.#addresses);
    pack.set(made, attribute.VARIANT_PACK_WORKSPACE, type.VOID_PTR, this.#workspace);
    pack.finalize(made);
    const code = cudnn.cudnnBackendExecute(handle, this.#plan, made);
    if (code !== 0) throw cudnnError(cudnn, 'cudnnBackendExecute', code);
  }

  [Symbol.dispose](): void {
    this.#d[Symbol.dispose]();
  }
}

/**
 * Plans a graph with the first engine that takes it: which one depends on the graph, the library and the chip alone.
 * @throws CudaError with cuDNN's words where no engine does.
 */
export function choosePlan(cudnn: Cudnn, handle: number, recipe: GraphRecipe): ExecutionPlan {
  const d = new Descriptors(cudnn);
  try {
    const graph = d.make(descriptor.OPERATIONGRAPH);
    d.set(graph, attribute.OPERATIONGRAPH_HANDLE, type.HANDLE, BigUint64Array.of(BigInt(handle)));
    d.link(graph, attribute.OPERATIONGRAPH_OPS, ...recipe.build(d));
    d.finalize(graph);
    let refusal: unknown = new CudaError('cudnnBackendGetAttribute', 3000, 'the heuristics know no engine');
    for (const config of enginesFor(d, graph)) {
      const plan = d.make(descriptor.EXECUTION_PLAN);
      d.set(plan, attribute.EXECUTION_PLAN_HANDLE, type.HANDLE, BigUint64Array.of(BigInt(handle)));
      d.link(plan, attribute.EXECUTION_PLAN_ENGINE_CONFIG, config);
      try {
        d.finalize(plan);
      } catch (error) {
        refusal = error;
        continue;
      }
      const made = new ExecutionPlan(d, plan, recipe.uids, engineOf(d, config));
      if (made.workspaceBytes <= mostWorkspace) return made;
      refusal = new CudaError('cudnnBackendFinalize', 3000, `${made.workspaceBytes} bytes of workspace`);
    }
    throw refusal;
  } catch (error) {
    d[Symbol.dispose]();
    throw error;
  }
}

function* enginesFor(d: Descriptors, graph: number): Generator<number> {
  for (const mode of [cudnnBackendHeurMode.A, cudnnBackendHeurMode.FALLBACK]) {
    const heuristics = d.make(descriptor.ENGINEHEUR);
    d.link(heuristics, attribute.ENGINEHEUR_OPERATION_GRAPH, graph);
    d.setChoice(heuristics, attribute.ENGINEHEUR_MODE, type.HEUR_MODE, mode);
    d.finalize(heuristics);
    yield* d.list(heuristics, attribute.ENGINEHEUR_RESULTS, descriptor.ENGINECFG, mostConfigs);
  }
}

function engineOf(d: Descriptors, config: number): number {
  const [engine = 0] = d.list(config, attribute.ENGINECFG_ENGINE, descriptor.ENGINE, 1);
  return d.integer(engine, attribute.ENGINE_GLOBAL_INDEX);
}

/** The plan that another process described. @throws CudaError where this library or chip does not take it. */
export function restorePlan(
  cudnn: Cudnn,
  handle: number,
  { uids }: GraphRecipe,
  { text, engine }: { readonly text: Uint8Array; readonly engine: number },
): ExecutionPlan {
  const d = new Descriptors(cudnn);
  try {
    const plan = d.make(descriptor.EXECUTION_PLAN);
    d.set(plan, attribute.EXECUTION_PLAN_HANDLE, type.HANDLE, BigUint64Array.of(BigInt(handle)));
    d.set(plan, attribute.EXECUTION_PLAN_JSON_REPRESENTATION, type.CHAR, text);
    d.finalize(plan);
    return new ExecutionPlan(d, plan, uids, engine);
  } catch (error) {
    d[Symbol.dispose]();
    throw error;
  }
}
