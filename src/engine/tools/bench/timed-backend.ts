// A backend that notes how long its captured steps take, or, op by op outside graphs, which kind of op takes the time.
import type { Backend, Graph } from '../../../backend/index.js';
import type { CudaBackend, StreamMark } from '../../loader.js';

export const opKinds = ['gemm', 'attention', 'convolution', 'elementwise'] as const;
export type OpKind = (typeof opKinds)[number];
export type KindTimes = Readonly<Record<OpKind, number>>;

/** Milliseconds of every op, and by kind. */
export interface OpTimes {
  readonly kinds: KindTimes;
  readonly ops: Readonly<Record<string, number>>;
}

const kinds: { readonly [op in keyof Backend]?: OpKind } = {
  matmul: 'gemm',
  convTranspose: 'gemm',
  attention: 'attention',
  conv: 'convolution',
  slice: 'elementwise',
  permute: 'elementwise',
  concat: 'elementwise',
  cast: 'elementwise',
  write: 'elementwise',
  rmsNorm: 'elementwise',
  addNorm: 'elementwise',
  layerNorm: 'elementwise',
  quantizeRows: 'elementwise',
  quantizedNorm: 'elementwise',
  quantizedAddNorm: 'elementwise',
  quantizedSwiglu: 'elementwise',
  add: 'elementwise',
  multiply: 'elementwise',
  activation: 'elementwise',
  swiglu: 'elementwise',
  snake: 'elementwise',
  mean: 'elementwise',
  linearCombination: 'elementwise',
  rope: 'elementwise',
  headsRope: 'elementwise',
  embed: 'elementwise',
  addRows: 'elementwise',
  upsampleNearest: 'elementwise',
  toRgb8: 'elementwise',
};

/** A stretch of device work, timed once it has passed. */
interface Stretch {
  /** Milliseconds that the host needed to hand it over. */
  readonly hostMs: number;
  /** Milliseconds from one moment of the device to another. */
  readonly measure: () => number;
  /** Milliseconds from the end of another stretch to the start of this one. */
  readonly gapAfter: (before: Stretch) => number;
  readonly start: StreamMark | null;
  readonly end: StreamMark | null;
}

function stretch(cuda: CudaBackend | null, work: () => void): Stretch {
  const startedAt = performance.now();
  const start = cuda?.mark() ?? null;
  work();
  const end = cuda?.mark() ?? null;
  const hostMs = performance.now() - startedAt;
  return {
    hostMs,
    start,
    end,
    measure: () => (cuda && start && end ? cuda.between(start, end) : hostMs),
    gapAfter: (before) => (cuda && before.end && start ? cuda.between(before.end, start) : 0),
  };
}

function discard(stretches: Stretch[]): void {
  for (const { start, end } of stretches) {
    start?.[Symbol.dispose]();
    end?.[Symbol.dispose]();
  }
  stretches.length = 0;
}

/** Times of the captured graphs that were replayed, in order, milliseconds. */
export interface ReplayTimes {
  readonly deviceMs: readonly number[];
  readonly hostMs: readonly number[];
  /** The device idle between one replay and the next. */
  readonly idleMs: readonly number[];
}

/** Times every replay of a captured graph. */
export class ReplayTimer {
  readonly backend: Backend;
  readonly #stretches: Stretch[] = [];

  constructor(backend: Backend, cuda: CudaBackend | null) {
    const capture = (body: () => void): Graph => {
      const graph = backend.capture(body);
      return {
        replay: () => {
          this.#stretches.push(stretch(cuda, () => graph.replay()));
        },
        [Symbol.dispose]: () => graph[Symbol.dispose](),
      };
    };
    this.backend = Object.create(backend, { capture: { value: capture } });
  }

  /** The times since the last call. The device must have finished. */
  take(): ReplayTimes {
    const all = this.#stretches;
    const idleMs = all.slice(1).map((next, i) => next.gapAfter(all[i] as Stretch));
    const times = { deviceMs: all.map(({ measure }) => measure()), hostMs: all.map(({ hostMs }) => hostMs), idleMs };
    discard(all);
    return times;
  }
}

/** Runs graphs op by op and times each op. Slower than the graph where ops are shorter than a launch. */
export class OpTimer {
  readonly backend: Backend;
  readonly #stretches = new Map<string, Stretch[]>();

  constructor(backend: Backend, cuda: CudaBackend | null) {
    const overrides: PropertyDescriptorMap = {
      capture: {
        value: (body: () => void): Graph => ({
          replay: () => {
            backend.scope(() => {
              body();
              return null;
            });
          },
          [Symbol.dispose]() {},
        }),
      },
    };
    for (const name of Object.keys(kinds)) {
      const op: unknown = Reflect.get(backend, name);
      if (typeof op !== 'function') continue;
      const timed = (...args: unknown[]): unknown => {
        let result: unknown;
        const stretches = this.#stretches.get(name) ?? [];
        this.#stretches.set(name, stretches);
        stretches.push(
          stretch(cuda, () => {
            result = Reflect.apply(op, backend, args);
          }),
        );
        return result;
      };
      overrides[name] = { value: timed };
    }
    this.backend = Object.create(backend, overrides);
  }

  /** The times since the last call. The device must have finished. */
  take(): OpTimes {
    const byKind = { gemm: 0, attention: 0, convolution: 0, elementwise: 0 };
    const ops: Record<string, number> = {};
    for (const [name, kind] of Object.entries(kinds)) {
      const stretches = this.#stretches.get(name) ?? [];
      if (stretches.length === 0) continue;
      const ms = stretches.reduce((sum, { measure }) => sum + measure(), 0);
      ops[name] = ms;
      byKind[kind] += ms;
      discard(stretches);
    }
    return { kinds: byKind, ops };
  }
}
