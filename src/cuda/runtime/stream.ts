// A stream of work on a GPU: copies and fills in order, waiting without blocking the event loop, recording and rehearsing.
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Pointer } from '../../native/index.js';
import {
  CU_EVENT_DISABLE_TIMING,
  CU_STREAM_CAPTURE_MODE_RELAXED,
  CU_STREAM_NON_BLOCKING,
  CUresult,
} from '../ffi/driver.js';
import { type Device, firstOf } from './device.js';

/** How long an event is asked for on every turn of the event loop before a timer takes over. */
const eagerMs = 2;

/** Signals when the work enqueued before it is done. */
export class StreamEvent implements Disposable {
  readonly handle: number;

  constructor(readonly device: Device) {
    const out = new BigUint64Array(1);
    device.check('cuEventCreate', device.driver.cuEventCreate(out, CU_EVENT_DISABLE_TIMING));
    this.handle = firstOf(out);
  }

  /** @throws CudaError when the work before it failed. */
  isDone(): boolean {
    const code = this.device.driver.cuEventQuery(this.handle);
    if (code === CUresult.NOT_READY) return false;
    this.device.check('cuEventQuery', code);
    return true;
  }

  /** Waits by asking, so that the event loop goes on. */
  async wait(): Promise<void> {
    const start = performance.now();
    while (!this.isDone()) {
      if (performance.now() - start < eagerMs) await setImmediate();
      else await setTimeout(1);
    }
  }

  [Symbol.dispose](): void {
    this.device.driver.cuEventDestroy(this.handle);
  }
}

export class Stream implements Disposable {
  readonly handle: number;
  #mode: 'run' | 'rehearse' | 'record' = 'run';

  constructor(readonly device: Device) {
    const out = new BigUint64Array(1);
    device.check('cuStreamCreate', device.driver.cuStreamCreate(out, CU_STREAM_NON_BLOCKING));
    this.handle = firstOf(out);
  }

  /** Work is described but not enqueued: nothing may reach the device. */
  get isRehearsing(): boolean {
    return this.#mode === 'rehearse';
  }

  /** Work becomes part of a graph, or will. */
  get isCapturing(): boolean {
    return this.#mode !== 'run';
  }

  copyToDevice(to: number, from: Pointer, bytes: number): void {
    if (bytes === 0 || this.isRehearsing) return;
    const { driver } = this.device;
    this.device.check('cuMemcpyHtoDAsync', driver.cuMemcpyHtoDAsync(to, from, bytes, this.handle));
  }

  copyToHost(to: Pointer, from: number, bytes: number): void {
    if (bytes === 0 || this.isRehearsing) return;
    const { driver } = this.device;
    this.device.check('cuMemcpyDtoHAsync', driver.cuMemcpyDtoHAsync(to, from, bytes, this.handle));
  }

  copy(to: number, from: number, bytes: number): void {
    if (bytes === 0 || this.isRehearsing) return;
    const { driver } = this.device;
    this.device.check('cuMemcpyDtoDAsync', driver.cuMemcpyDtoDAsync(to, from, bytes, this.handle));
  }

  fill(to: number, byte: number, bytes: number): void {
    if (bytes === 0 || this.isRehearsing) return;
    const { driver } = this.device;
    this.device.check('cuMemsetD8Async', driver.cuMemsetD8Async(to, byte, bytes, this.handle));
  }

  record(event: StreamEvent): void {
    if (this.isRehearsing) return;
    this.device.check('cuEventRecord', this.device.driver.cuEventRecord(event.handle, this.handle));
  }

  /** Resolves when all work enqueued so far is done. @throws CudaError when some of it failed. */
  async synchronize(): Promise<void> {
    using event = new StreamEvent(this.device);
    this.record(event);
    await event.wait();
  }

  /** Blocks until all work is done. */
  drain(): void {
    this.device.check('cuStreamSynchronize', this.device.driver.cuStreamSynchronize(this.handle));
  }

  /** Runs `body` without enqueuing its work: kernels get compiled, algorithms chosen, memory taken. */
  rehearse(body: () => void): void {
    this.#mode = 'rehearse';
    try {
      body();
    } finally {
      this.#mode = 'run';
    }
  }

  /** Records the work of `body` instead of running it; the graph's handle. */
  recordGraph(body: () => void): number {
    const { driver } = this.device;
    const out = new BigUint64Array(1);
    this.device.check('cuStreamBeginCapture', driver.cuStreamBeginCapture(this.handle, CU_STREAM_CAPTURE_MODE_RELAXED));
    this.#mode = 'record';
    let failed = true;
    try {
      body();
      failed = false;
    } finally {
      this.#mode = 'run';
      const code = driver.cuStreamEndCapture(this.handle, out);
      // The body's own error is the one to see.
      if (!failed) this.device.check('cuStreamEndCapture', code);
      else if (out[0]) driver.cuGraphDestroy(firstOf(out));
    }
    return firstOf(out);
  }

  [Symbol.dispose](): void {
    this.device.driver.cuStreamDestroy(this.handle);
  }
}
