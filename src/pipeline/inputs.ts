// Decoded inputs of a plan, as `conditioning` reads them.
import type { RgbClip } from '../media/index.js';
import type { HintKind } from './request.js';

export interface PlanInputs {
  readonly image: RgbClip | null; // one frame
  readonly video: RgbClip | null;
  /** Given control maps by hint; computed ones are absent. */
  readonly controls: ReadonlyMap<HintKind, RgbClip>;
}
