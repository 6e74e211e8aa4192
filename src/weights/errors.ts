// What can be wrong with a checkpoint: one error for a tensor, one for a file.

/** A tensor that is missing, misshaped or of a dtype that cannot be used. */
export class WeightError extends Error {
  override readonly name = 'WeightError';

  /** @param weight the tensor's full name · @param expected what the network wanted · @param found what the checkpoint has. */
  constructor(
    readonly weight: string,
    readonly expected: string,
    readonly found: string,
  ) {
    super(`weight ${weight}: expected ${expected}, found ${found}`);
  }
}

/** A checkpoint file that is missing, damaged or contradicts another one. */
export class CheckpointError extends Error {
  override readonly name = 'CheckpointError';

  /** @param file the file or folder · @param problem what is wrong, with the value found · @param remedy what to do about it. */
  constructor(
    readonly file: string,
    readonly problem: string,
    readonly remedy: string,
    options?: ErrorOptions,
  ) {
    super(`${file}: ${problem}; ${remedy}`, options);
  }
}

/** The first few of many names: `a, b, c and 12 more`. */
export function listNames(names: readonly string[], limit = 5): string {
  const shown = names.slice(0, limit).join(', ');
  return names.length > limit ? `${shown} and ${names.length - limit} more` : shown;
}
