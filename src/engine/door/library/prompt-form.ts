// Requests of the library: in the engine's words, or in the prompt form of the original interface,
// `{ prompt, modalities, negative_prompt, multi_modal_data }`, to which any wire parameter may be added.
import type { MediaSource } from '../../../pipeline/media-source.js';
import type { PlanWarning } from '../../../pipeline/plan-types.js';
import type { GenerationRequest } from '../../../pipeline/request.js';
import { RequestError, showValue } from '../../../protocol/index.js';
import { readMediaReference } from '../media-reference.js';
import { type ReadRequest, readRequest } from '../read-request.js';
import { isRecord } from '../read-values.js';
import { checkNames } from './check-names.js';

/** A picture or clip: a path, a URL, bytes, or decoded RGB. */
export type MediaInput =
  | string
  | URL
  | Uint8Array
  | MediaSource
  | {
      readonly width: number;
      readonly height: number;
      readonly frames?: number;
      readonly fps?: number | null;
      readonly data: Uint8Array;
    };

/** The prompt form: wire parameters in one object, inputs under `multi_modal_data`. */
export interface PromptForm {
  readonly prompt: string;
  readonly modalities?: readonly string[];
  readonly negative_prompt?: string;
  readonly multi_modal_data?: { readonly image?: MediaInput; readonly video?: MediaInput };
  readonly extra_params?: Readonly<Record<string, unknown>>;
  readonly [parameter: string]: unknown;
}

/** A request in the engine's words; inputs may be given as paths or URLs. */
export type LibraryRequest = Omit<GenerationRequest, 'image' | 'video'> & {
  readonly image?: MediaInput;
  readonly video?: MediaInput;
};

const formKeys = [
  'modalities',
  'negative_prompt',
  'multi_modal_data',
  'extra_params',
  'extra_args',
  'additional_information',
];

function isPromptForm(request: LibraryRequest | PromptForm): request is PromptForm {
  return Object.keys(request).some((key) => formKeys.includes(key) || key.includes('_'));
}

/**
 * Reads a library request of either form.
 * @throws RequestError as `readRequest` does; for a name of the engine's words that is unknown
 */
export function readLibraryRequest(
  request: LibraryRequest | PromptForm,
  options: { readonly strict?: boolean } = {},
): ReadRequest {
  if (typeof request !== 'object' || request === null) {
    throw new RequestError('invalid_value', 'request', `a request must be an object, got ${showValue(request)}`);
  }
  if (isPromptForm(request)) return readPromptForm(request, options);
  checkNames({ ...request });
  const { image, video, ...rest } = request;
  return {
    request: { ...rest, ...readInputs({ image, video }) },
    model: undefined,
    guardrails: true,
    codecOptions: {},
    warnings: [] satisfies PlanWarning[],
  };
}

function readPromptForm(form: PromptForm, options: { readonly strict?: boolean }): ReadRequest {
  const { multi_modal_data: media, extra_params: params, extra_args: args, ...fields } = form;
  const extra = { ...(isRecord(args) ? args : {}), ...params };
  return readRequest({ fields, extra, ...readInputs(media ?? {}) }, options);
}

function readInputs({ image, video }: { readonly image?: unknown; readonly video?: unknown }): {
  readonly image?: MediaSource;
  readonly video?: MediaSource;
} {
  return {
    ...(image === undefined || image === null ? {} : { image: readMediaReference('image', image) }),
    ...(video === undefined || video === null ? {} : { video: readMediaReference('video', video) }),
  };
}
