// A stream of copies beside the main stream, and the points where one waits for the other; both may be part of one captured graph.
import type { Device } from './device.js';
import { Stream, StreamEvent } from './stream.js';

export class CopyLane implements Disposable {
  readonly stream: Stream;
  readonly #main: Stream;
  readonly #fork: StreamEvent;
  /** Ends of copies that the main stream has not waited for. */
  readonly #ahead = new Set<StreamEvent>();

  constructor(device: Device, main: Stream) {
    this.stream = new Stream(device);
    this.#main = main;
    this.#fork = new StreamEvent(device);
  }

  /** Copies from here on come after all work that the main stream has been given so far. */
  follow(): void {
    if (this.#main.isRehearsing) return;
    this.#main.record(this.#fork);
    this.stream.waitFor(this.#fork);
  }

  /** Copies from here on come after the work before a point of the main stream. */
  followFrom(point: StreamEvent): void {
    if (!this.#main.isRehearsing) this.stream.waitFor(point);
  }

  /** From page-locked host memory. */
  copyToDevice(to: number, from: number, bytes: number): void {
    if (!this.#main.isRehearsing) this.stream.copyToDevice(to, from, bytes);
  }

  /** Marks the end of the copies so far, for `join`. */
  end(event: StreamEvent): void {
    if (this.#main.isRehearsing) return;
    this.stream.record(event);
    this.#ahead.add(event);
  }

  /** Work that the main stream is given from here on comes after the copies before `event`. */
  join(event: StreamEvent): void {
    this.#ahead.delete(event);
    this.#main.waitFor(event);
  }

  /** Joins whatever runs ahead: before a graph is launched or recorded, and before its recording ends. */
  settle(): void {
    for (const event of this.#ahead) this.join(event);
  }

  /** Forgets what ran ahead in a recording that failed. */
  forget(): void {
    this.#ahead.clear();
  }

  [Symbol.dispose](): void {
    this.#fork[Symbol.dispose]();
    this.stream[Symbol.dispose]();
  }
}
