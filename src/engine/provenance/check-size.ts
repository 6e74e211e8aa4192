// Whether a provenance fits into the files that are to carry it, known before the work is done.
import { RequestError } from '../../protocol/index.js';
import type { OutputTarget } from '../outputs/output-target.js';
import { type Provenance, writeProvenance } from './provenance.js';

/** Most bytes of text that a clip, picture or sound carries. */
const textLimit = 2 ** 20;

/**
 * Checks the size.
 * @throws RequestError for a prompt or action array that is too long to be carried
 */
export function checkProvenanceSize(targets: readonly OutputTarget[], origin: Omit<Provenance, 'framesSha256'>): void {
  const carrier = targets.find(({ kind }) => kind !== 'json' && kind !== 'safetensors');
  if (carrier === undefined) return;
  const bytes = Buffer.byteLength(writeProvenance({ ...origin, framesSha256: '0'.repeat(64) }));
  if (bytes <= textLimit) return;
  throw new RequestError(
    'invalid_value',
    'prompt',
    `the plan has ${bytes} bytes, and ${carrier.path} can carry ${textLimit}: shorten the prompt, lower max_sequence_length, or write .json or .safetensors`,
  );
}
