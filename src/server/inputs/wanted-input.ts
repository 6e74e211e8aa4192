// An input that a request names, before anything of it was fetched or looked at.
import type { HintName } from '../../protocol/index.js';
import type { ReceivedFile } from '../bodies/request-body.js';

/** What it is for; `either`: its content decides whether it is the picture or the clip to start from. */
export type WantedRole = 'image' | 'video' | 'either' | HintName;

const fileIdForm = /^file-([0-9a-f]{64})$/;

/** What requests call a file that was received before. */
export function fileIdOf(sha256: string): string {
  return `file-${sha256}`;
}

/** The content that a file id names; null where it is none of ours. */
export function readFileId(id: unknown): string | null {
  return typeof id === 'string' ? (fileIdForm.exec(id)?.[1] ?? null) : null;
}

export interface WantedInput {
  readonly role: WantedRole;
  /** What messages call it, as `image_reference.image_url`. */
  readonly name: string;
  readonly source:
    | { readonly kind: 'upload'; readonly file: ReceivedFile }
    | { readonly kind: 'url'; readonly url: string }
    /** On the server's own disk. */
    | { readonly kind: 'path'; readonly path: string }
    /** Received before, by its content. */
    | { readonly kind: 'kept'; readonly sha256: string }
    /** Made here, so it needs no inspection. */
    | { readonly kind: 'picture'; readonly make: () => Promise<Uint8Array> };
}
