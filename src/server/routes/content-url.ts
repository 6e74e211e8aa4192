// Addresses of content, signed where keys are required: pictures and players send no header.
import type { FastifyRequest } from 'fastify';
import type { ContentTokens } from '../../engine/artifacts/content-tokens.js';
import type { ServerContext } from '../server-context.js';

/** How long an address holds. */
const tokenSeconds = 3600;

/** A path with its token. @param query further members of the address */
export function signedUrl(
  { settings, tokens }: Pick<ServerContext, 'settings' | 'tokens'>,
  path: string,
  query: Readonly<Record<string, string>> = {},
): string {
  const search = new URLSearchParams(query);
  if (settings.apiKeys.length > 0) search.set('token', tokens.issue(path, tokenSeconds));
  return `${settings.rootPath}${path}${search.size === 0 ? '' : `?${search}`}`;
}

/** Whether a request's address carries a token for exactly its path. */
export function isSignedContent(request: FastifyRequest, tokens: ContentTokens): boolean {
  const [path = '', search = ''] = request.url.split('?', 2);
  const token = new URLSearchParams(search).get('token');
  const isContent = /^\/v1\/(?:(?:videos|jobs)\/[\w-]+\/content|jobs\/[\w-]+\/inputs\/\w+)$/.test(path);
  return token !== null && isContent && tokens.verify(path, token);
}
