// The one error this room throws for media that cannot be read, fetched or written.

/**
 * What went wrong, for the door to turn into a coded error. The first group is the caller's fault,
 * the second the machine's.
 */
export type MediaErrorCode =
  | 'missing_file'
  | 'unsupported_type'
  | 'unreadable'
  | 'truncated'
  | 'too_large'
  | 'invalid_url'
  | 'address_refused'
  | 'fetch_failed'
  | 'timeout'
  | 'invalid_argument'
  | 'aborted'
  | 'ffmpeg_missing'
  | 'ffmpeg_failed'
  | 'unwritable'
  | 'disk_full';

/** `message` is one line: the value met, the limit, the remedy. */
export class MediaError extends Error {
  override readonly name = 'MediaError';

  constructor(
    readonly code: MediaErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message.replace(/\s+/g, ' ').trim(), options);
  }
}

/** The error that a file system call on `path` failed with, as a MediaError; `doing` is a verb such as "write". */
export function fileError(error: unknown, doing: string, path: string): MediaError {
  if (error instanceof MediaError) return error;
  const code = errorCode(error);
  const cause = { cause: error };
  switch (code) {
    case 'ENOENT':
      return doing === 'write'
        ? new MediaError('unwritable', `Cannot write ${path}: its folder does not exist. Create it first.`, cause)
        : new MediaError('missing_file', `File not found: ${path}. Check the path.`, cause);
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return new MediaError(
        'disk_full',
        `Cannot ${doing} ${path}: no space left (${code}). Free some or write elsewhere.`,
        cause,
      );
    case 'EISDIR':
      return new MediaError(
        doing === 'write' ? 'unwritable' : 'unreadable',
        `Cannot ${doing} ${path}: it is a folder. Name a file in it.`,
        cause,
      );
    default: {
      const why = code ?? (error instanceof Error ? error.message : String(error));
      const remedy = doing === 'write' ? 'Choose a folder that can be written.' : 'Check its permissions, or copy it.';
      return new MediaError(
        doing === 'write' ? 'unwritable' : 'unreadable',
        `Cannot ${doing} ${path}: ${why}. ${remedy}`,
        cause,
      );
    }
  }
}

/** Node's code of a system error (`ENOENT`, …), or null for any other value. */
export function errorCode(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' ? code : null;
}
