// Inputs that a request names by address: fetched within limits, never from the server's own network unless its host is allowed.
import { constants, copyFile, realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import { fetchMediaToFile, isPublicAddress, MediaError } from '../../media/index.js';
import { RequestError } from '../../protocol/index.js';
import type { InputSettings } from '../options/settings.js';

/**
 * Fetches an http(s) or data URL into a file.
 * @param name what to call it in messages, as `image_reference.image_url`
 * @throws RequestError `invalid_value` or `invalid_media`
 */
export async function fetchInput(name: string, url: string, path: string, settings: InputSettings): Promise<void> {
  const param = name.split('.')[0] ?? name;
  if (!/^(https?:\/\/|data:)/i.test(url)) {
    throw new RequestError('invalid_value', param, `Invalid ${name}: must be an http(s) URL or data URL.`);
  }
  const isTrusted = isAllowedHost(param, url, settings.mediaHosts);
  try {
    await fetchMediaToFile(url, path, {
      maxBytes: settings.maxUploadBytes,
      timeout: settings.timeoutSeconds * 1000,
      // A host on the list vouches for itself, not for where it sends us.
      maxRedirects: isTrusted ? 0 : 5,
      allowAddress: isTrusted ? () => true : isPublicAddress,
    });
  } catch (error) {
    if (!(error instanceof MediaError) || ['unwritable', 'disk_full', 'aborted'].includes(error.code)) throw error;
    if (error.code === 'too_large')
      throw new RequestError('payload_too_large', param, `Invalid ${name}: ${error.message}`);
    throw new RequestError('invalid_media', param, `Invalid ${name}: ${error.message}`);
  }
}

function isAllowedHost(param: string, url: string, hosts: readonly string[]): boolean {
  if (hosts.length === 0 || /^data:/i.test(url)) return false;
  let place: URL;
  try {
    place = new URL(url);
  } catch {
    throw new RequestError('invalid_value', param, `Invalid ${param}: the URL cannot be read.`);
  }
  if (hosts.includes(place.hostname) || hosts.includes(place.host)) return true;
  throw new RequestError('invalid_media', param, `Invalid ${param}: this server does not fetch from ${place.host}.`);
}

/**
 * Copies a file of the server's own disk, which must lie in one of the roots.
 * @throws RequestError where it does not, or is not there
 */
export async function copyLocalInput(name: string, path: string, to: string, settings: InputSettings): Promise<void> {
  const { mediaRoots, maxUploadBytes } = settings;
  const refuse = (why: string): never => {
    throw new RequestError('invalid_media', name, why);
  };
  if (mediaRoots.length === 0) {
    refuse(`${name}: this server reads no files of its own disk (--media-root); upload the file, or give a URL.`);
  }
  const found = await locate(path, mediaRoots);
  if (found === null) return refuse(`Missing Cosmos3 transfer control_path: ${path}. It must lie in a --media-root.`);
  const { size } = await stat(found);
  if (size > maxUploadBytes) refuse(`${name}: ${path} has ${size} bytes, the limit is ${maxUploadBytes}.`);
  await copyFile(found, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
}

/** The real path of a file in one of the roots; null where there is none, whatever the reason. */
async function locate(path: string, roots: readonly string[]): Promise<string | null> {
  for (const root of roots) {
    try {
      const base = await realpath(root);
      const found = await realpath(isAbsolute(path) ? path : resolve(base, path));
      const inside = relative(base, found);
      const isInside = inside !== '' && !inside.startsWith('..') && !isAbsolute(inside);
      if (isInside && (await stat(found)).isFile()) return found;
    } catch {
      // Not there, or not to be read: as if it were outside.
    }
  }
  return null;
}
