// What a weight file or a reference dump lacks, all of it in one error.
import { foldNames } from './flat-names.js';

/** What is wrong with a file's tensors. */
export interface FileFaults {
  /** Keys that are not there, in the file's own naming. */
  readonly missing: readonly string[];
  /** Keys that are there but do not fit: one clause each, with what was found and what was expected. */
  readonly misfits: readonly string[];
}

/** A file without tensors that are needed, or with some that do not fit. Thrown before a device is asked for anything. */
export class IncompleteFileError extends Error implements FileFaults {
  override readonly name = 'IncompleteFileError';
  readonly missing: readonly string[];
  readonly misfits: readonly string[];

  /** @param remedy what to do about it. */
  constructor(
    readonly file: string,
    { missing, misfits }: FileFaults,
    remedy: string,
  ) {
    const count = (number: number) => `${number} key${number === 1 ? '' : 's'}`;
    const parts = [
      ...(missing.length > 0 ? [`${count(missing.length)} missing: ${foldNames(missing)}`] : []),
      ...(misfits.length > 0 ? [`${count(misfits.length)} not as expected: ${misfits.join('; ')}`] : []),
    ];
    super(`${file}: ${parts.join('; ')}; ${remedy}`);
    this.missing = missing;
    this.misfits = misfits;
  }
}
