// Who asks: API keys, and whose jobs are whose.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RequestError } from '../protocol/index.js';

/** The owner of jobs where no keys are required. */
export const anyone = 'anyone';

const owners = new WeakMap<FastifyRequest, string>();

/** Whose request it is: a hash of the key, never the key. */
export function ownerOf(request: FastifyRequest): string {
  return owners.get(request) ?? anyone;
}

/** The keys of a server. Compared in constant time, by their hashes. */
export class ApiKeys {
  readonly #hashes: readonly Buffer[];

  constructor(keys: readonly string[]) {
    this.#hashes = keys.map(hash);
  }

  get isRequired(): boolean {
    return this.#hashes.length > 0;
  }

  /** The owner that a key stands for; null for an unknown one. */
  ownerOfKey(key: string): string | null {
    const given = hash(key);
    let isKnown = false;
    for (const known of this.#hashes) isKnown = timingSafeEqual(known, given) || isKnown;
    return isKnown ? given.toString('hex').slice(0, 16) : null;
  }
}

function hash(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/**
 * Requires a key for everything under `/v1`, except preflights and addresses that carry a token of their own.
 * @param isSigned whether the request's address carries a token that holds
 */
export function requireKeys(app: FastifyInstance, keys: ApiKeys, isSigned: (request: FastifyRequest) => boolean): void {
  if (!keys.isRequired) return;
  app.addHook('onRequest', async (request) => {
    if (!isGuarded(request) || request.method === 'OPTIONS') return;
    const [, key] = /^Bearer +(\S+)\s*$/i.exec(request.headers.authorization ?? '') ?? [];
    const owner = key === undefined ? null : keys.ownerOfKey(key);
    if (owner !== null) {
      owners.set(request, owner);
      return;
    }
    if (key === undefined && isSigned(request)) return;
    throw new RequestError('unauthorized', null, 'Give a valid API key, as the header Authorization: Bearer KEY.');
  });
}

/** By the route that was found: an address may spell its path in several ways. What is no route tells nothing without a key either. */
function isGuarded({ routeOptions, url }: FastifyRequest): boolean {
  return [routeOptions.url ?? '', url].some((path) => /^\/v1(?:\/|$|\?)/.test(path));
}
