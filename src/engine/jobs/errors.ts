// What the job store refuses, typed, so that the server can answer each with its own status.

/** The queue holds as many waiting jobs as it may. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';

  /** @param retryAfterSeconds when a place is likely to be free */
  constructor(
    readonly limit: number,
    readonly retryAfterSeconds: number,
  ) {
    super(`The queue is full: ${limit} jobs wait, which is the limit. Try again in ${retryAfterSeconds} s.`);
  }
}

/** An idempotency key came again with another request. */
export class IdempotencyConflictError extends Error {
  override readonly name = 'IdempotencyConflictError';

  constructor(
    readonly key: string,
    readonly jobId: string,
  ) {
    super(`Idempotency key ${key} belongs to another request (job ${jobId}); use a new key for a new request.`);
  }
}

/** A job names an upload that the store does not have, or not any more. */
export class UnknownUploadError extends Error {
  override readonly name = 'UnknownUploadError';

  constructor(readonly sha256: string) {
    super(`No upload with the hash ${sha256} is kept; upload the file again.`);
  }
}

/** A file of record is not on the disk. */
export class ArtifactMissingError extends Error {
  override readonly name = 'ArtifactMissingError';

  constructor(readonly file: string) {
    super(`Artifact file ${file} is not on the disk; it was removed by someone else.`);
  }
}

/** The store was written by a newer version. */
export class StoreVersionError extends Error {
  override readonly name = 'StoreVersionError';

  constructor(path: string, found: number, known: number) {
    super(
      `${path} has schema version ${found}, this program knows up to ${known}; ` +
        'use the newer program, or another storage path.',
    );
  }
}

/** The folder of a store cannot be made or written. */
export class StoreFolderError extends Error {
  override readonly name = 'StoreFolderError';

  constructor(
    readonly folder: string,
    cause: unknown,
  ) {
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : (cause as Error).message;
    super(`Jobs and results cannot be kept in ${folder} (${why}); choose a folder that can be written.`, { cause });
  }
}

/** Another process holds a lock. */
export class LockHeldError extends Error {
  override readonly name = 'LockHeldError';

  constructor(
    readonly path: string,
    readonly holder: string | null,
  ) {
    super(
      `${path} is locked by ${holder === null ? 'another process' : `process ${holder}`}; stop it or use another path.`,
    );
  }
}

/** A worker says that it cannot work, and that trying again will not help. */
export class WorkerRefusedError extends Error {
  override readonly name = 'WorkerRefusedError';

  constructor(
    readonly device: string,
    reason: string,
  ) {
    super(reason);
  }
}
