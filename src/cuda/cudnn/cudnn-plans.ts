// cuDNN on one stream: opened at its first use, plans kept by shape in memory and on disk, and what was chosen for the record.
import { createHash } from 'node:crypto';
import type { Cudnn } from '../ffi/cudnn.js';
import type { Device } from '../runtime/device.js';
import type { ImageCache } from '../runtime/image-cache.js';
import type { Stream } from '../runtime/stream.js';
import { cudnnError } from './descriptors.js';
import { choosePlan, type ExecutionPlan, type GraphRecipe, restorePlan } from './execution-plan.js';

/** Plans kept at once; recorded ones do not count. */
const mostPlans = 512;
/** The first version whose attention takes sequence lengths. */
const oldestVersion = 91500;

/** Below so many multiply-adds a kernel of ours is done before a plan of cuDNN's would be found. */
const leastWork = 1e9;

/** How cuDNN is come by. */
export interface CudnnSource {
  /** Called when work first asks for it. @throws Error where there is none */
  readonly open: () => Cudnn;
  /** Multiply-adds from which it is asked; 1e9 where absent. */
  readonly leastWork?: number;
}

export interface CudnnSetting {
  readonly device: Device;
  readonly stream: Stream;
  /** Null where no cuDNN is wanted. */
  readonly source: CudnnSource | null;
  readonly images: ImageCache;
}

interface OpenLibrary {
  readonly cudnn: Cudnn;
  readonly handle: number;
  readonly name: string;
}

export class CudnnPlans implements Disposable {
  readonly #setting: CudnnSetting;
  /** In order of last use; null where cuDNN has no engine. */
  readonly #plans = new Map<string, ExecutionPlan | null>();
  readonly #reasons = new Map<string, string>();
  #library: OpenLibrary | null = null;
  #absence: string | null;

  constructor(setting: CudnnSetting) {
    this.#setting = setting;
    this.#absence = setting.source === null ? 'not asked for' : null;
  }

  /** Whether work of so many multiply-adds is worth a plan. */
  isWorth(multiplyAdds: number): boolean {
    const { source } = this.#setting;
    return source !== null && multiplyAdds >= (source.leastWork ?? leastWork);
  }

  /** `cuDNN 9.19.0`, or why there is none. It is opened when work first asks for it. */
  get name(): string {
    return this.#library?.name ?? `no cuDNN: ${this.#absence ?? 'nothing has asked for it yet'}`;
  }

  /** The plan for a graph, or null where cuDNN is missing or has no engine for it. */
  planFor(recipe: GraphRecipe): ExecutionPlan | null {
    const known = this.#plans.get(recipe.key);
    if (known !== undefined) {
      this.#plans.delete(recipe.key);
      this.#plans.set(recipe.key, known);
      return known;
    }
    const library = this.#open();
    if (library === null) return null;
    if (this.#plans.size >= mostPlans) this.#forgetOldest();
    const plan = this.#make(library, recipe);
    this.#plans.set(recipe.key, plan);
    return plan;
  }

  /** Why cuDNN refused a graph; empty where it did not. */
  reasonAgainst({ key }: GraphRecipe): string {
    return this.#reasons.get(key) ?? this.#absence ?? '';
  }

  /** Enqueues a plan, or notes what it takes when the stream rehearses. @throws CudaError */
  run(plan: ExecutionPlan, addresses: readonly number[], workspace: number): void {
    const { stream } = this.#setting;
    if (stream.isCapturing) plan.isRecorded = true;
    const library = this.#open();
    if (stream.isRehearsing || library === null) return;
    plan.execute(library.handle, addresses, workspace);
  }

  [Symbol.dispose](): void {
    for (const plan of this.#plans.values()) plan?.[Symbol.dispose]();
    this.#plans.clear();
    if (this.#library) this.#library.cudnn.cudnnDestroy(this.#library.handle);
    this.#library = null;
    this.#absence = 'closed';
  }

  #make({ cudnn, handle, name }: OpenLibrary, recipe: GraphRecipe): ExecutionPlan | null {
    const { images, device } = this.#setting;
    const parts = ['cudnn plan', name, device.name, device.architecture, device.multiprocessors, recipe.key];
    const key = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40);
    const kept = images.read(key);
    if (kept) {
      try {
        const engine = new DataView(kept.buffer, kept.byteOffset).getInt32(0, true);
        return restorePlan(cudnn, handle, recipe, { text: kept.subarray(4), engine });
      } catch {
        // Written by a library that was built differently: chosen anew.
      }
    }
    try {
      const plan = choosePlan(cudnn, handle, recipe);
      images.write(key, Buffer.concat([Buffer.from(Int32Array.of(plan.engine).buffer), plan.describe()]));
      return plan;
    } catch (error) {
      this.#reasons.set(recipe.key, error instanceof Error ? error.message : String(error));
      return null;
    }
  }

  #open(): OpenLibrary | null {
    if (this.#library !== null || this.#absence !== null) return this.#library;
    const { source, stream } = this.#setting;
    try {
      if (source === null) return null;
      const cudnn = source.open();
      const version = cudnn.cudnnGetVersion();
      const name = `cuDNN ${Math.floor(version / 10000)}.${Math.floor(version / 100) % 100}.${version % 100}`;
      if (version < oldestVersion) throw new Error(`${name} is older than 9.15`);
      const out = new BigUint64Array(1);
      const check = (call: string, status: number) => {
        if (status !== 0) throw cudnnError(cudnn, call, status);
      };
      check('cudnnCreate', cudnn.cudnnCreate(out));
      const handle = Number(out[0]);
      check('cudnnSetStream', cudnn.cudnnSetStream(handle, stream.handle));
      this.#library = { cudnn, handle, name };
    } catch (error) {
      this.#absence = error instanceof Error ? error.message : String(error);
    }
    return this.#library;
  }

  // Recorded plans stay: unloading their kernels would spoil graphs that launch them.
  #forgetOldest(): void {
    for (const [key, plan] of this.#plans) {
      if (plan?.isRecorded) continue;
      this.#plans.delete(key);
      plan?.[Symbol.dispose]();
      return;
    }
  }
}
