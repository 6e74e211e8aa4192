// A request body in one form, whatever its encoding was: values by field, and files that lie on the disk.
import { rm } from 'node:fs/promises';

/** A file of a form, streamed to the disk. */
export interface ReceivedFile {
  readonly field: string;
  readonly path: string;
  /** As the client called it; empty where it did not. */
  readonly fileName: string;
  /** As the client declared it; content decides, this does not. */
  readonly declaredType: string;
  readonly bytes: number;
}

/** Values by field: text from forms, anything from JSON. */
export type BodyValues = Readonly<Record<string, unknown>>;

/** A read body. Disposing of it removes the files that nobody took over. */
export class RequestBody implements AsyncDisposable {
  constructor(
    readonly values: BodyValues,
    readonly files: readonly ReceivedFile[],
    /** Values are text: empty ones stand for absent, objects travel as JSON. */
    readonly isForm: boolean,
  ) {}

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.files.map(({ path }) => rm(path, { force: true })));
  }
}
