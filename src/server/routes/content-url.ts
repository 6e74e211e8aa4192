// Addresses of content, signed where keys are required: pictures and players send no header.
import type { FastifyRequest } from 'fastify';
import type { ContentTokens } from '../../engine/artifacts/content-tokens.js';
import type { ArtifactRecord } from '../../engine/jobs/types.js';
import type { ServerContext } from '../server-context.js';

/** How long an address holds. */
const tokenSeconds = 3600;

/** The address of an artifact's content. */
export function signedContentUrl(
  { settings, tokens }: Pick<ServerContext, 'settings' | 'tokens'>,
  jobId: string,
  { variant }: Pick<ArtifactRecord, 'variant'>,
): string {
  const path = `/v1/videos/${jobId}/content`;
  const query = new URLSearchParams({ variant });
  if (settings.apiKeys.length > 0) query.set('token', tokens.issue(path, tokenSeconds));
  return `${settings.rootPath}${path}?${query}`;
}

/** Whether a request's address carries a token for exactly its path. */
export function isSignedContent(request: FastifyRequest, tokens: ContentTokens): boolean {
  const [path = '', search = ''] = request.url.split('?', 2);
  const token = new URLSearchParams(search).get('token');
  return token !== null && /^\/v1\/videos\/[\w-]+\/content$/.test(path) && tokens.verify(path, token);
}
