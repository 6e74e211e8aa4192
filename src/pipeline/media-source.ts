// Where an input comes from. Files and URLs are probed and decoded by the engine's media room; pixels are taken as they are.
import type { RgbClip } from '../media/index.js';

export type MediaSource =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array; readonly name?: string }
  | { readonly kind: 'frames'; readonly clip: RgbClip };
