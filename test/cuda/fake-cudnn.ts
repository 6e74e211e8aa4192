// cuDNN in this process: descriptors remember what they were told, heuristics offer engines, plans compute attention and
// convolutions by plain loops on the fake driver's memory.
import { Buffer } from 'node:buffer';
import {
  cudnnBackendAttributeName as attribute,
  type Cudnn,
  cudnnBackendDescriptorType as descriptor,
} from '../../src/cuda/ffi/cudnn.js';
import { viewAddress } from '../../src/native/index.js';
import { type Operation, runOperations, type TensorShape } from './fake-cudnn-loops.js';

interface Descriptor {
  readonly type: number;
  readonly values: Map<number, readonly number[]>;
  isFinal: boolean;
  /** Of plans and engines. */
  engine: number;
  operations: readonly Operation[];
}

export interface FakeCudnnOptions {
  /** Where work goes: the fake driver's queue. */
  readonly enqueue: (name: string, stream: number, work: () => void) => number;
  readonly version?: number;
  /** Engines in the order in which the heuristics offer them; 9 where absent. */
  readonly engines?: readonly number[];
  /** Engines that are offered but do not take the graph. */
  readonly refuses?: readonly number[];
  readonly workspaceBytes?: number;
}

/** What a test may look at. */
export interface FakeCudnnState {
  /** Descriptors made and not destroyed. */
  live: number;
  handles: number;
  /** Engines of the plans that ran. */
  readonly ran: number[];
  /** Plans that were made from a text. */
  restored: number;
}

const notSupported = 3000;
const badParameter = 2000;

function readNumbers(elements: ArrayBufferView): number[] {
  const { buffer, byteOffset, byteLength } = elements;
  if (elements instanceof BigInt64Array || elements instanceof BigUint64Array) return [...elements].map(Number);
  if (elements instanceof Float32Array || elements instanceof Int32Array) return [...elements];
  return [...new Uint8Array(buffer, byteOffset, byteLength)];
}

export function createFakeCudnn(options: FakeCudnnOptions): Cudnn & { readonly state: FakeCudnnState } {
  const { enqueue, version = 91900, engines = [9], refuses = [], workspaceBytes = 256 } = options;
  const state: FakeCudnnState = { live: 0, handles: 0, ran: [], restored: 0 };
  const made = new Map<number, Descriptor>();
  let next = 1;
  let stream = 0;
  let words = '';
  const fails = (status: number, why: string): number => {
    words = why;
    return status;
  };
  const of = (handle: number): Descriptor => {
    const found = made.get(handle);
    if (!found) throw new Error(`no descriptor ${handle}`);
    return found;
  };
  const linked = (from: Descriptor, name: number): Descriptor | null => {
    const [handle] = from.values.get(name) ?? [];
    return handle === undefined ? null : of(handle);
  };
  const shapeOf = (tensor: Descriptor | null): TensorShape | null => {
    if (!tensor) return null;
    const list = (name: number) => tensor.values.get(name) ?? [];
    return {
      uid: list(attribute.TENSOR_UNIQUE_ID)[0] ?? 0,
      dtype: list(attribute.TENSOR_DATA_TYPE)[0] ?? -1,
      sizes: list(attribute.TENSOR_DIMENSIONS),
      strides: list(attribute.TENSOR_STRIDES),
    };
  };
  const operationOf = (from: Descriptor): Operation => {
    const tensor = (name: number) => shapeOf(linked(from, name));
    if (from.type === descriptor.OPERATION_SDPA_FWD)
      return {
        kind: 'attention',
        q: tensor(attribute.OPERATION_SDPA_FWD_QDESC),
        k: tensor(attribute.OPERATION_SDPA_FWD_KDESC),
        v: tensor(attribute.OPERATION_SDPA_FWD_VDESC),
        out: tensor(attribute.OPERATION_SDPA_FWD_ODESC),
        scale: tensor(attribute.OPERATION_SDPA_FWD_SCALEDESC),
        length: tensor(attribute.OPERATION_SDPA_FWD_SEQ_LEN_KVDESC),
      };
    if (from.type === descriptor.OPERATION_POINTWISE)
      return {
        kind: 'add',
        bias: tensor(attribute.OPERATION_POINTWISE_BDESC),
        out: tensor(attribute.OPERATION_POINTWISE_YDESC),
      };
    const how = linked(from, attribute.OPERATION_CONVOLUTION_FORWARD_CONV_DESC);
    const list = (name: number) => how?.values.get(name) ?? [];
    return {
      kind: 'convolution',
      x: tensor(attribute.OPERATION_CONVOLUTION_FORWARD_X),
      w: tensor(attribute.OPERATION_CONVOLUTION_FORWARD_W),
      out: tensor(attribute.OPERATION_CONVOLUTION_FORWARD_Y),
      stride: list(attribute.CONVOLUTION_FILTER_STRIDES),
      dilation: list(attribute.CONVOLUTION_DILATIONS),
      before: list(attribute.CONVOLUTION_PRE_PADDINGS),
      after: list(attribute.CONVOLUTION_POST_PADDINGS),
    };
  };

  const finalizePlan = (plan: Descriptor): number => {
    if (!plan.values.has(attribute.EXECUTION_PLAN_HANDLE)) return fails(badParameter, 'no handle');
    const text = plan.values.get(attribute.EXECUTION_PLAN_JSON_REPRESENTATION);
    if (text) {
      const kept: { readonly version: number; readonly engine: number; readonly operations: readonly Operation[] } =
        JSON.parse(Buffer.from(text).toString('utf8'));
      if (kept.version !== version) return fails(1003, 'serialised by another version');
      Object.assign(plan, { engine: kept.engine, operations: kept.operations });
      state.restored++;
      return 0;
    }
    const config = linked(plan, attribute.EXECUTION_PLAN_ENGINE_CONFIG);
    if (!config) return fails(badParameter, 'no engine configuration');
    Object.assign(plan, { engine: config.engine, operations: config.operations });
    return refuses.includes(plan.engine) ? fails(notSupported, `engine ${plan.engine} does not take it`) : 0;
  };

  const finalize = (handle: number): number => {
    const it = of(handle);
    if (it.isFinal) return fails(badParameter, 'finalised before');
    it.isFinal = true;
    if (it.type === descriptor.EXECUTION_PLAN) return finalizePlan(it);
    if (it.type === descriptor.OPERATIONGRAPH)
      it.operations = (it.values.get(attribute.OPERATIONGRAPH_OPS) ?? []).map((op) => operationOf(of(op)));
    if (it.type === descriptor.ENGINEHEUR)
      it.operations = linked(it, attribute.ENGINEHEUR_OPERATION_GRAPH)?.operations ?? [];
    return 0;
  };

  const write = (values: readonly number[], count: BigInt64Array, elements: ArrayBufferView | null): number => {
    count[0] = BigInt(values.length);
    if (elements instanceof BigInt64Array) elements.set(values.slice(0, elements.length).map(BigInt));
    if (elements instanceof Uint8Array) elements.set(values.slice(0, elements.length));
    return 0;
  };

  const get = (handle: number, name: number, count: BigInt64Array, elements: ArrayBufferView | null): number => {
    const it = of(handle);
    if (!it.isFinal && it.type !== descriptor.ENGINECFG) return fails(badParameter, 'not finalised');
    const places = elements instanceof BigUint64Array ? [...elements].map((place) => of(Number(place))) : [];
    if (name === attribute.ENGINEHEUR_RESULTS) {
      count[0] = BigInt(engines.length);
      for (const [i, place] of places.entries())
        Object.assign(place, { engine: engines[i], operations: it.operations, isFinal: true });
      return 0;
    }
    if (name === attribute.ENGINECFG_ENGINE) {
      count[0] = 1n;
      for (const place of places) Object.assign(place, { engine: it.engine, isFinal: true });
      return 0;
    }
    if (name === attribute.ENGINE_GLOBAL_INDEX) return write([it.engine], count, elements);
    if (name === attribute.EXECUTION_PLAN_WORKSPACE_SIZE) return write([workspaceBytes], count, elements);
    const text = JSON.stringify({ version, engine: it.engine, operations: it.operations });
    return write([...Buffer.from(text)], count, elements);
  };

  return {
    state,
    cudnnGetVersion: () => version,
    cudnnGetErrorString: (status) => `CUDNN_STATUS_${status}`,
    cudnnGetLastErrorString: (message) => {
      message.set(Buffer.from(`${words}\0`));
      return undefined;
    },
    cudnnCreate: (handle) => {
      handle[0] = 77n;
      state.handles++;
      return 0;
    },
    cudnnDestroy: () => {
      state.handles--;
      return 0;
    },
    cudnnSetStream: (_handle, to) => {
      stream = to;
      return 0;
    },
    cudnnBackendCreateDescriptor: (type, out) => {
      made.set(next, { type, values: new Map(), isFinal: false, engine: -1, operations: [] });
      out[0] = BigInt(next++);
      state.live++;
      return 0;
    },
    cudnnBackendDestroyDescriptor: (handle) => {
      if (!made.delete(handle)) return badParameter;
      state.live--;
      return 0;
    },
    cudnnBackendSetAttribute: (handle, name, _type, count, elements) => {
      const it = of(handle);
      const values = readNumbers(elements);
      if (it.isFinal || values.length !== count) return fails(badParameter, `attribute ${name}`);
      it.values.set(name, values);
      return 0;
    },
    cudnnBackendGetAttribute: (handle, name, _type, _wanted, count, elements) => get(handle, name, count, elements),
    cudnnBackendFinalize: finalize,
    cudnnBackendExecute: (_handle, planHandle, packHandle) => {
      const [plan, pack] = [of(planHandle), of(packHandle)];
      const uids = pack.values.get(attribute.VARIANT_PACK_UNIQUE_IDS) ?? [];
      const addresses = pack.values.get(attribute.VARIANT_PACK_DATA_POINTERS) ?? [];
      const [workspace = 0] = pack.values.get(attribute.VARIANT_PACK_WORKSPACE) ?? [];
      if (workspaceBytes > 0 && workspace === 0) return fails(badParameter, 'no workspace');
      const at = new Map(uids.map((uid, i) => [uid, addresses[i] ?? 0]));
      // The host's numbers are read now, as launches do.
      const operations = plan.operations.map((operation) =>
        operation.kind === 'attention' && operation.scale
          ? { ...operation, factor: hostFloat(at.get(operation.scale.uid) ?? 0) }
          : operation,
      );
      return enqueue('cudnnBackendExecute', stream, () => {
        state.ran.push(plan.engine);
        viewAddress(BigInt(workspace), workspaceBytes).fill(0xee);
        runOperations(operations, at);
      });
    },
  };
}

function hostFloat(address: number): number {
  const bytes = viewAddress(BigInt(address), 4);
  return new DataView(bytes.buffer, bytes.byteOffset, 4).getFloat32(0, true);
}
