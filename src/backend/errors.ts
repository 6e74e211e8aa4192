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
  /** @param asked bytes wanted · @param free bytes left · @param remedy what would fit instead, one sentence · @param place whose memory. */
  constructor(
    readonly asked: number,
    readonly free: number,
    readonly remedy: string,
    readonly place: 'device' | 'host' = 'device',
  ) {
    super(`out of memory: ${gib(asked)} asked, ${gib(free)} free. ${remedy}`);
  }
}

/** A device cannot keep weights in the format that was asked. */
export class UnsupportedFormatError extends Error {
  override readonly name = 'UnsupportedFormatError';
  /** @param device what was asked, such as `cpu` or `NVIDIA A100 (compute capability 8.0)`. */
  constructor(
    readonly format: string,
    readonly device: string,
  ) {
    super(
      `${format} needs an NVIDIA GPU of compute capability 8.9 or newer, this device is ${device}: leave the quantization out`,
    );
  }
}

function gib(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(2)} GiB`;
}
