// The flags of `generate` and `plan`, as the command-line library hands them over.

import type { DeviceFlags } from './device-flags.js';
import type { DecoderFlags, ModelFlags } from './model-flags.js';

/** Flags that are not parameters of the request. */
export interface GenerateFlags extends DeviceFlags, ModelFlags, DecoderFlags {
  readonly image?: string;
  readonly video?: string;
  readonly extraBody?: string;
  readonly strict?: boolean;
  readonly output?: string[];
  readonly part?: string[];
  readonly revision?: string;
  readonly dryRun?: boolean;
  readonly from?: string;
  readonly quiet?: boolean;
  readonly json?: boolean;
  readonly debug?: boolean;
  readonly [parameter: string]: unknown;
}
