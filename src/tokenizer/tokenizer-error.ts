// The one error of this room: a tokenizer that cannot be loaded or used.

/** What is wrong with a tokenizer; the message names the file and the remedy. */
export class TokenizerError extends Error {
  override readonly name = 'TokenizerError';

  /**
   * @param path the file that is at fault
   * @param detail what was found in it, and what to do
   */
  constructor(
    readonly path: string,
    detail: string,
    options?: ErrorOptions,
  ) {
    super(`${path}: ${detail}`, options);
  }
}
