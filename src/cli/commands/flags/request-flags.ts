// The flags of `generate` and `plan`, made a request and the options to load an engine with.
import { readMediaReference } from '../../../engine/door/media-reference.js';
import { type ReadRequest, readRequest } from '../../../engine/door/read-request.js';
import type { LoadOptions } from '../../../engine/index.js';
import { RequestError } from '../../../protocol/index.js';
import { readJsonObject, readParameterFlags } from '../../parameter-flags.js';
import { printNote } from '../../print.js';
import { readDeviceFlags } from './device-flags.js';
import type { GenerateFlags } from './generate-flags.js';
import { readDecoderFlags, readModelFlags } from './model-flags.js';

/**
 * Reads the request.
 * @throws RequestError for anything that does not fit
 */
export function readFlags(flags: GenerateFlags): ReadRequest {
  const { image, video, extraBody, strict } = flags;
  return readRequest(
    {
      fields: readParameterFlags(flags),
      extra: extraBody === undefined ? {} : readJsonObject('extra_body', extraBody),
      ...(image === undefined ? {} : { image: readMediaReference('image', image) }),
      ...(video === undefined ? {} : { video: readMediaReference('video', video) }),
    },
    { strict: strict === true },
  );
}

/** How the engine is to be loaded. @throws RequestError for a bad thread count or part */
export function readLoadFlags(flags: GenerateFlags, model: string | undefined): LoadOptions {
  return {
    model,
    ...readDeviceFlags(flags),
    ...readModelFlags(flags),
    ...readDecoderFlags(flags),
    revision: flags.revision,
    parts: Object.fromEntries((flags.part ?? []).map(readPart)),
    ...(flags.debug === true ? { onDebug: printNote } : {}),
  };
}

function readPart(text: string): readonly [name: string, path: string] {
  const at = text.indexOf('=');
  if (at > 0 && at < text.length - 1) return [text.slice(0, at), text.slice(at + 1)];
  throw new RequestError('invalid_value', 'part', `--part must be NAME=PATH, as vae=./other/vae, got ${text}`);
}
