// Processes that measure a share of the cases each, and what they found.
import { type ChildProcess, fork } from 'node:child_process';

/** What a member of the crew says: what it is, the result of a case, the end of a check. */
export type Told =
  | { readonly kind: 'ready'; readonly model: string; readonly device: string }
  | { readonly kind: 'result'; readonly check: string; readonly place: string; readonly result: unknown }
  | { readonly kind: 'end'; readonly check: string };

export interface CrewOptions {
  /** The program that members run, and its arguments; `--share I/N` is added. */
  readonly program: string;
  readonly args: readonly string[];
  readonly count: number;
  /** Told how many cases are done. */
  readonly report: (message: string) => void;
}

/** Runs a share of the cases in each of some processes; ends with them. */
export class Crew implements Disposable {
  readonly #members: readonly ChildProcess[];
  readonly #results = new Map<string, unknown>();
  readonly #ended = new Map<string, number>();
  readonly #report: (message: string) => void;
  #engine: { readonly model: string; readonly device: string } = { model: '', device: '' };
  #failure: Error | undefined;
  #wake: () => void = () => undefined;

  constructor({ program, args, count, report }: CrewOptions) {
    this.#report = report;
    this.#members = Array.from({ length: count }, (_, index) => {
      // Results hold undefined and NaN, which JSON does not.
      const member = fork(program, [...args, '--share', `${index}/${count}`], { serialization: 'advanced' });
      member.on('message', (told: Told) => this.#hear(told));
      member.on('error', (error) => this.#fail(error));
      member.on('exit', (code, signal) => {
        if (code !== 0)
          this.#fail(new Error(`process ${index + 1} of ${count} ended early: ${signal ?? `code ${code}`}`));
      });
      return member;
    });
  }

  /** What the members measure. */
  get engine(): { readonly model: string; readonly device: string } {
    return this.#engine;
  }

  /** Waits until all members are through with a check; gives the result of a case. @throws Error when one ended early */
  async finish(check: string): Promise<(place: string) => unknown> {
    while (this.#ended.get(check) !== this.#members.length) {
      if (this.#failure !== undefined) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return (place) => {
      const key = `${check} ${place}`;
      if (!this.#results.has(key)) throw new Error(`nobody measured ${key}`);
      return this.#results.get(key);
    };
  }

  [Symbol.dispose](): void {
    for (const member of this.#members) if (member.exitCode === null) member.kill();
  }

  #hear(told: Told): void {
    if (told.kind === 'ready') this.#engine = told;
    else if (told.kind === 'end') this.#ended.set(told.check, (this.#ended.get(told.check) ?? 0) + 1);
    else {
      this.#results.set(`${told.check} ${told.place}`, told.result);
      this.#report(`${this.#results.size} cases done, the last one ${told.place}`);
    }
    this.#wake();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#wake();
  }
}
