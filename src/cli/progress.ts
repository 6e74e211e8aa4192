// Progress on stderr: a bar on a terminal, a line now and then elsewhere, nothing when quiet.
import { SingleBar } from 'cli-progress';
import { formatSeconds, printNote } from './print.js';

/** Where a work is. */
export interface ProgressState {
  /** What is being done, in a word or two. */
  readonly label: string;
  readonly done: number;
  readonly total: number;
  /** Time per step, time left. */
  readonly detail: string;
}

const silence = 10_000;

/** Shows progress until disposed of. */
export class Progress implements Disposable {
  readonly #isQuiet: boolean;
  #bar: SingleBar | undefined;
  #lastLine = 0;

  constructor(isQuiet: boolean) {
    this.#isQuiet = isQuiet;
  }

  /** Shows a state; a new total begins a new bar. */
  show(state: ProgressState): void {
    if (this.#isQuiet) return;
    if (process.stderr.isTTY) this.#draw(state);
    else this.#write(state);
  }

  /** Takes the bar away, so that lines can be written. */
  clear(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }

  [Symbol.dispose](): void {
    this.clear();
  }

  #draw({ label, done, total, detail }: ProgressState): void {
    if (this.#bar === undefined) {
      this.#bar = new SingleBar({
        format: '{label} {bar} {value}/{total}  {detail}',
        stream: process.stderr,
        hideCursor: true,
        clearOnComplete: true,
        barsize: 28,
        barCompleteChar: '█',
        barIncompleteChar: '░',
        // Ctrl-C is ours; the cursor comes back when the bar is stopped.
        gracefulExit: false,
      });
      this.#bar.start(total, done, { label, detail });
    }
    this.#bar.setTotal(total);
    this.#bar.update(done, { label, detail });
  }

  #write({ label, done, total, detail }: ProgressState): void {
    const now = performance.now();
    if (done < total && now - this.#lastLine < silence) return;
    this.#lastLine = now;
    printNote(`${label} ${done}/${total}${detail === '' ? '' : `  ${detail}`}`);
  }
}

/** `0.52 s/step, 16 s left`. */
export function describeSteps({
  secondsPerStep,
  secondsLeft,
}: {
  secondsPerStep: number;
  secondsLeft: number;
}): string {
  return `${secondsPerStep.toFixed(2)} s/step, ${formatSeconds(secondsLeft)} left`;
}

/** Bytes that have come, in MiB. */
export function describeDownload(
  label: string,
  { bytes, totalBytes }: { bytes: number; totalBytes: number },
  file?: string,
): ProgressState {
  const mebibytes = (count: number) => Math.round(count / 2 ** 20);
  const detail = file === undefined ? 'MiB' : `MiB  ${file}`;
  return { label, done: mebibytes(bytes), total: mebibytes(totalBytes), detail };
}
