// A stream of work on a GPU: copies and fills in order, waiting without blocking the event loop, recording and rehearsing.
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Pointer } from '../../native/index.js';
import {
  CU_EVENT_DEFAULT,
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

  /** Blocks until the work before it is done. */
  block(): void {
    this.device.check('cuEventSynchronize', this.device.driver.cuEventSynchronize(this.handle));
  }

  [Symbol.dispose](): void {
    this.device.driver.cuEventDestroy(this.handle);
  }
}

/** A point in a stream's work whose time the device keeps. */
export class StreamMark implements Disposable {
  readonly #device: Device;
  readonly #handle: number;

  constructor(stream: Stream) {
    const { device, handle } = stream;
    this.#device = device;
    const out = new BigUint64Array(1);
    device.check('cuEventCreate', device.driver.cuEventCreate(out, CU_EVENT_DEFAULT));
    this.#handle = firstOf(out);
    device.check('cuEventRecord', device.driver.cuEventRecord(this.#handle, handle));
  }

  /** Milliseconds from this mark to a later one; both must have passed. @throws CudaError where one has not */
  until(end: StreamMark): number {
    const milliseconds = new Float32Array(1);
    const { driver } = this.#device;
    const code = driver.cuEventElapsedTime(milliseconds, this.#handle, end.#handle);
    this.#device.check('cuEventElapsedTime', code);
    return milliseconds[0] ?? 0;
  }

  [Symbol.dispose](): void {
    this.#device.driver.cuEventDestroy(this.#handle);
  }
}

export class Stream implements Disposable {
  readonly handle: number;
  #mode: 'run' | 'rehearse' | 'record' = 'run';
  #era = 0;

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

  /** Grows with each rehearsal, recording and launch of a graph: what is known of device memory in one era does not hold in the next. */
  get era(): number {
    return this.#era;
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

  /** Work enqueued from here on comes after what `event` marks on another stream. */
  waitFor(event: StreamEvent): void {
    if (this.isRehearsing) return;
    this.device.check('cuStreamWaitEvent', this.device.driver.cuStreamWaitEvent(this.handle, event.handle, 0));
  }

  /** Enqueues an instantiated graph. */
  launch(executable: number): void {
    this.#era++;
    this.device.check('cuGraphLaunch', this.device.driver.cuGraphLaunch(executable, this.handle));
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
    this.#era++;
    try {
      body();
    } finally {
      this.#mode = 'run';
      this.#era++;
    }
  }

  /** Records the work of `body` instead of running it; the graph's handle. */
  recordGraph(body: () => void): number {
    const { driver } = this.device;
    const out = new BigUint64Array(1);
    this.device.check('cuStreamBeginCapture', driver.cuStreamBeginCapture(this.handle, CU_STREAM_CAPTURE_MODE_RELAXED));
    this.#mode = 'record';
    this.#era++;
    let failed = true;
    try {
      body();
      failed = false;
    } finally {
      this.#mode = 'run';
      this.#era++;
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
