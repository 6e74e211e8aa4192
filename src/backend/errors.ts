// Errors of devices and of the ops on them.

/** An op was called with arguments that do not fit together: a fault of the program, never of a request. */
export class ShapeError extends Error {
  override readonly name = 'ShapeError';
  constructor(
    readonly op: string,
    message: string,
  ) {
    super(`${op}: ${message}`);
  }
}

/** A device has no room for what was asked. */
export class OutOfMemoryError extends Error {
  override readonly name = 'OutOfMemoryError';
  /** @param asked bytes wanted · @param free bytes left · @param remedy what would fit instead, one sentence. */
  constructor(
    readonly asked: number,
    readonly free: number,
    readonly remedy: string,
  ) {
    super(`out of memory: ${gib(asked)} asked, ${gib(free)} free. ${remedy}`);
  }
}

function gib(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(2)} GiB`;
}
