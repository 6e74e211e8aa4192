// Fetches media from http(s) and data URLs within limits of size, time, redirects and addresses.
import { lookup } from 'node:dns/promises';
import { open } from 'node:fs/promises';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { errorCode, fileError, MediaError } from './media-error.js';
import { type MediaType, sniffLength, sniffMedia } from './sniff-media.js';
import { writeThroughTemporary } from './write-file.js';

export interface FetchLimits {
  /** Most bytes of content; 512 MiB by default. */
  readonly maxBytes?: number | undefined;
  /** Milliseconds for everything, redirects included; 60 000 by default. */
  readonly timeout?: number | undefined;
  /** Most redirects followed; 5 by default, 0 refuses them. */
  readonly maxRedirects?: number | undefined;
  /** Asked for the address of every host, redirects included, before connecting to exactly that address. */
  readonly allowAddress?: ((address: string) => boolean) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface FetchedMedia {
  readonly bytes: Uint8Array;
  /** By content; null if unknown. */
  readonly type: MediaType | null;
}

export interface FetchedFile {
  readonly path: string;
  readonly size: number;
  /** By content; null if unknown. */
  readonly type: MediaType | null;
}

/**
 * Fetches a URL into memory.
 * Throws MediaError `invalid_url`, `address_refused`, `fetch_failed`, `too_large`, `timeout` or `aborted`.
 */
export async function fetchMedia(url: string, limits: FetchLimits = {}): Promise<FetchedMedia> {
  const pieces: Uint8Array[] = [];
  await fetchPieces(url, limits, async (piece) => {
    pieces.push(piece);
  });
  const bytes = new Uint8Array(Buffer.concat(pieces));
  return { bytes, type: sniffMedia(bytes) };
}

/**
 * Fetches a URL into a file, which appears whole or not at all.
 * Throws what `fetchMedia` throws, and `unwritable` or `disk_full`.
 */
export async function fetchMediaToFile(url: string, path: string, limits: FetchLimits = {}): Promise<FetchedFile> {
  return writeThroughTemporary(path, async (temporary) => {
    const file = await open(temporary, 'w');
    let head = Buffer.alloc(0);
    let size = 0;
    try {
      await fetchPieces(url, limits, async (piece) => {
        if (head.length < sniffLength) head = Buffer.concat([head, piece.subarray(0, sniffLength)]);
        size += piece.length;
        await file.writeFile(piece).catch((error: unknown) => {
          throw fileError(error, 'write', path);
        });
      });
    } finally {
      await file.close();
    }
    return { path, size, type: sniffMedia(head) };
  });
}

type Sink = (piece: Uint8Array) => Promise<void>;

/** What must hold during one fetch. */
interface Bounds {
  readonly maxBytes: number;
  readonly allowAddress: (address: string) => boolean;
  readonly stop: AbortSignal;
}

async function fetchPieces(url: string, limits: FetchLimits, sink: Sink): Promise<void> {
  const { maxBytes = 512 * 2 ** 20, timeout = 60_000, maxRedirects = 5, allowAddress = () => true, signal } = limits;
  if (/^data:/i.test(url)) return sink(decodeDataUrl(url, maxBytes));
  const deadline = AbortSignal.timeout(timeout);
  const stop = signal ? AbortSignal.any([deadline, signal]) : deadline;
  const bounds: Bounds = { maxBytes, allowAddress, stop };
  try {
    await followRedirects(parseUrl(url), maxRedirects, bounds, sink);
  } catch (error) {
    if (signal?.aborted) throw new MediaError('aborted', `Fetching ${shown(url)} was stopped.`, { cause: error });
    if (deadline.aborted) {
      const message = `Fetching ${shown(url)} took longer than ${timeout / 1000} s. Use a faster host or send the file itself.`;
      throw new MediaError('timeout', message, { cause: error });
    }
    if (error instanceof MediaError) throw error;
    const why = errorCode(error) ?? (error instanceof Error ? error.message : String(error));
    throw new MediaError(
      'fetch_failed',
      `${shown(url)} failed to download (${why}). Check the address, or send the file itself.`,
      { cause: error },
    );
  }
}

async function followRedirects(first: URL, maxRedirects: number, bounds: Bounds, sink: Sink): Promise<void> {
  let url = first;
  for (let hop = 0; hop <= maxRedirects; hop++) {
    const response = await get(url, await permittedAddress(url, bounds), bounds.stop);
    const { statusCode: status = 0, headers } = response;
    if (status >= 300 && status < 400 && headers.location !== undefined) {
      response.destroy();
      url = parseUrl(headers.location, url);
      continue;
    }
    if (status !== 200) {
      response.destroy();
      throw new MediaError('fetch_failed', `${shown(url.href)}: server returned HTTP ${status}.`);
    }
    return receive(response, url, bounds, sink);
  }
  throw new MediaError(
    'fetch_failed',
    `${shown(first.href)} redirects more than ${maxRedirects} times. Give the final URL.`,
  );
}

async function receive(response: IncomingMessage, url: URL, { maxBytes, stop }: Bounds, sink: Sink): Promise<void> {
  const tooLarge = (): MediaError =>
    new MediaError('too_large', `${shown(url.href)} has more than ${maxBytes} bytes, the limit. Send a smaller one.`);
  const declared = Number(response.headers['content-length'] ?? 0);
  try {
    if (declared > maxBytes) throw tooLarge();
    let size = 0;
    for await (const piece of response) {
      size += piece.length;
      if (size > maxBytes) throw tooLarge();
      stop.throwIfAborted();
      await sink(piece);
    }
  } finally {
    response.destroy();
  }
}

/** Requests `url` from exactly `address`, so that a name cannot change its mind after it was checked. */
function get(url: URL, address: string, stop: AbortSignal): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  const family = isIP(address);
  return new Promise((resolve, reject) => {
    const headers = { accept: 'image/*, video/*, audio/*, application/octet-stream', 'accept-encoding': 'identity' };
    const call = request(url, {
      headers,
      signal: stop,
      agent: false,
      lookup: (_host, options, callback) => {
        if (options.all) callback(null, [{ address, family }]);
        else callback(null, address, family);
      },
    });
    call.once('response', resolve);
    call.on('error', reject);
    call.end();
  });
}

/** The address to connect to: the first of the host's, of which none may be forbidden. */
async function permittedAddress(url: URL, { allowAddress, stop }: Bounds): Promise<string> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = isIP(host)
    ? [host]
    : (await untilStopped(lookup(host, { all: true }), stop)).map(({ address }) => address);
  const [first] = addresses;
  const refused = addresses.find((address) => !allowAddress(address));
  if (refused !== undefined) {
    throw new MediaError(
      'address_refused',
      `${shown(url.href)} is at ${refused}, which this server does not fetch from. Send the file itself.`,
    );
  }
  if (first === undefined) throw new Error('no address');
  return first;
}

/** Name resolution cannot be cancelled; this stops waiting for it. */
async function untilStopped<T>(work: Promise<T>, stop: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abandon = (): void => reject(stop.reason);
    if (stop.aborted) return abandon();
    stop.addEventListener('abort', abandon, { once: true });
    work.then(resolve, reject).finally(() => stop.removeEventListener('abort', abandon));
  });
}

function parseUrl(text: string, base?: URL): URL {
  let url: URL;
  try {
    url = new URL(text, base);
  } catch (error) {
    throw new MediaError('invalid_url', `"${shown(text)}" must be an http(s) URL or data URL.`, { cause: error });
  }
  if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  throw new MediaError('invalid_url', `"${shown(text)}" must be an http(s) URL or data URL.`);
}

function decodeDataUrl(url: string, maxBytes: number): Uint8Array {
  const comma = url.indexOf(',');
  if (comma < 0)
    throw new MediaError('invalid_url', `"${shown(url)}" is a data URL without a comma. Write data:TYPE;base64,BYTES.`);
  const isBase64 = /;\s*base64\s*$/i.test(url.slice(0, comma));
  // Three characters of percent code or four thirds of base64 stand for a byte at most.
  const most = (url.length - comma - 1) * (isBase64 ? 0.75 : 1);
  if (most > 3 * maxBytes + 3)
    throw new MediaError('too_large', `A data URL has more than ${maxBytes} bytes, the limit. Send a smaller one.`);
  const bytes = isBase64 ? decodeBase64(url.slice(comma + 1)) : decodePercent(url.slice(comma + 1));
  if (bytes.length > maxBytes) {
    throw new MediaError(
      'too_large',
      `A data URL has ${bytes.length} bytes, the limit is ${maxBytes}. Send a smaller one.`,
    );
  }
  return bytes;
}

function decodeBase64(text: string): Uint8Array {
  const plain = (text.includes('%') ? safeDecode(text) : text).replace(/\s+/g, '');
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(plain)) {
    throw new MediaError('invalid_url', 'A data URL contains characters that are not base64. Encode the bytes again.');
  }
  return new Uint8Array(Buffer.from(plain, 'base64'));
}

function decodePercent(text: string): Uint8Array {
  const latin = Buffer.from(text, 'utf8')
    .toString('latin1')
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return new Uint8Array(Buffer.from(latin, 'latin1'));
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    throw new MediaError('invalid_url', 'A data URL contains a malformed percent code. Write a percent sign as %25.', {
      cause: error,
    });
  }
}

/** A URL as messages show it: without credentials and query, at most 100 characters. */
function shown(url: string): string {
  const plain = url.replace(/^([a-z]+:\/\/)[^/@]*@/i, '$1').replace(/[?#].*$/s, '');
  return plain.length > 100 ? `${plain.slice(0, 97)}...` : plain;
}
