// A captured sequence of work, launched as one.
import type { Graph } from '../../backend/index.js';
import type { CopyLane } from './copy-lane.js';
import { firstOf } from './device.js';
import type { Stream } from './stream.js';

export class CudaGraph implements Graph {
  readonly #stream: Stream;
  readonly #lane: CopyLane;
  readonly #onDispose: () => void;
  readonly #executable: number;
  /** Kernels, copies and fills in it. */
  readonly nodes: number;
  #alive = true;

  /** @param graph handle of a captured graph, which is consumed. */
  constructor(stream: Stream, lane: CopyLane, graph: number, onDispose: () => void) {
    const { device } = stream;
    const { driver } = device;
    const out = new BigUint64Array(1);
    device.check('cuGraphGetNodes', driver.cuGraphGetNodes(graph, null, out));
    this.nodes = firstOf(out);
    device.check('cuGraphInstantiate', driver.cuGraphInstantiateWithFlags(out, graph, 0));
    this.#executable = firstOf(out);
    device.check('cuGraphDestroy', driver.cuGraphDestroy(graph));
    this.#stream = stream;
    this.#lane = lane;
    this.#onDispose = onDispose;
  }

  replay(): void {
    if (!this.#alive) throw new Error('a graph was replayed after it was disposed of');
    this.#lane.settle();
    this.#stream.launch(this.#executable);
  }

  [Symbol.dispose](): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.#stream.device.driver.cuGraphExecDestroy(this.#executable);
    this.#onDispose();
  }
}
