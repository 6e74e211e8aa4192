// What every request of a server starts from must be what a request can say: a mistake shows at the start, not to each caller.
import { readRequest } from '../../engine/index.js';
import { RequestError } from '../../protocol/index.js';
import type { Named } from './generation-form.js';

/** Checks `--default-sampling-params`. @throws RequestError naming the parameter */
export function checkDefaults(params: Named): void {
  const given = Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null));
  try {
    readRequest({ fields: { prompt: 'A scene.', ...given } }, { strict: true });
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    throw new RequestError(error.code, 'default-sampling-params', `--default-sampling-params: ${error.message}`);
  }
}
