// Errors of writing, as the caller knows the files.
import { fileError, MediaError } from '../../media/index.js';

/** Errors speak of the path that was asked for, not of the temporary one. */
export async function blameTarget<T>(
  { path, temporary }: { readonly path: string; readonly temporary: string },
  body: () => Promise<T>,
): Promise<T> {
  try {
    return await body();
  } catch (error) {
    const cause = error instanceof MediaError ? error : fileError(error, 'write', path);
    throw new MediaError(cause.code, cause.message.replaceAll(temporary, path), { cause: error });
  }
}
