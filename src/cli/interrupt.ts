// Ctrl-C: the first one stops between steps, the second one at once.
import { exitCodes } from './exit-codes.js';

/** The reason of an abort that a signal asked for. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';

  constructor(readonly isTermination: boolean) {
    super('stopped');
  }
}

/** An abort signal tied to SIGINT and SIGTERM until disposed of. */
export interface InterruptWatch extends Disposable {
  readonly signal: AbortSignal;
}

/**
 * Watches for Ctrl-C and SIGTERM.
 * @param onFirst called once, to say that the work is being stopped
 */
export function watchInterrupts(onFirst: () => void): InterruptWatch {
  const controller = new AbortController();
  const handle = (signal: NodeJS.Signals) => {
    const isTermination = signal === 'SIGTERM';
    if (controller.signal.aborted) process.exit(isTermination ? exitCodes.terminated : exitCodes.interrupted);
    onFirst();
    controller.abort(new Interrupted(isTermination));
  };
  process.on('SIGINT', handle);
  process.on('SIGTERM', handle);
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      process.off('SIGINT', handle);
      process.off('SIGTERM', handle);
    },
  };
}
