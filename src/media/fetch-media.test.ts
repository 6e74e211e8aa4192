import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetchMedia, fetchMediaToFile } from './fetch-media.js';
import { isPublicAddress } from './public-address.js';

const png = Buffer.from('\x89PNG\r\n\x1a\nand so on', 'latin1');
const folder = mkdtempSync(join(tmpdir(), 'orrery-fetch-'));
let server: Server;
let base = '';
const seen: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    seen.push(request.url ?? '');
    const [, name, count] = (request.url ?? '').split('/');
    if (name === 'picture') response.end(png);
    else if (name === 'redirect') {
      const left = Number(count);
      response.writeHead(302, { location: left > 1 ? `/redirect/${left - 1}` : '/picture' }).end();
    } else if (name === 'elsewhere') response.writeHead(302, { location: 'file:///etc/passwd' }).end();
    else if (name === 'inward')
      response.writeHead(301, { location: `http://127.0.0.2:${portOf(server)}/picture` }).end();
    else if (name === 'endless') {
      const timer = setInterval(() => response.write(Buffer.alloc(65536)), 1);
      response.on('close', () => clearInterval(timer));
    } else if (name === 'declared') response.writeHead(200, { 'content-length': '1000000' }).write('x');
    else if (name === 'broken') {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    } else if (name === 'silent') response.writeHead(200).write('x');
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${portOf(server)}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

function portOf(listening: Server): number {
  return (listening.address() as AddressInfo).port;
}

describe('fetchMedia', () => {
  it('fetches bytes and tells their type', async () => {
    expect(await fetchMedia(`${base}/picture`)).toEqual({ bytes: new Uint8Array(png), type: 'png' });
    expect(await fetchMedia(`http://localhost:${portOf(server)}/picture`)).toMatchObject({ type: 'png' });
  });

  it('follows redirects up to the limit', async () => {
    expect((await fetchMedia(`${base}/redirect/5`)).type).toBe('png');
    await expect(fetchMedia(`${base}/redirect/6`)).rejects.toThrow('redirects more than 5 times');
    await expect(fetchMedia(`${base}/redirect/1`, { maxRedirects: 0 })).rejects.toMatchObject({ code: 'fetch_failed' });
    await expect(fetchMedia(`${base}/elsewhere`)).rejects.toMatchObject({ code: 'invalid_url' });
  });

  it('asks for each address before it connects', async () => {
    const asked: string[] = [];
    const allowAddress = (address: string): boolean => {
      asked.push(address);
      return address === '127.0.0.1' || address === '::1';
    };
    const before = seen.length;
    const refused = fetchMedia(`${base}/inward`, { allowAddress });
    await expect(refused).rejects.toMatchObject({
      code: 'address_refused',
      message: expect.stringContaining('127.0.0.2'),
    });
    expect(asked).toEqual(['127.0.0.1', '127.0.0.2']);
    expect(seen.slice(before)).toEqual(['/inward']);
    const named = fetchMedia(`http://localhost:${portOf(server)}/picture`, { allowAddress: () => false });
    await expect(named).rejects.toMatchObject({ code: 'address_refused' });
    await expect(fetchMedia(`http://[::1]:${portOf(server)}/`, { allowAddress: () => false })).rejects.toThrow(
      'is at ::1',
    );
  });

  it('stops at the size limit, declared or not', async () => {
    await expect(fetchMedia(`${base}/endless`, { maxBytes: 200_000 })).rejects.toMatchObject({ code: 'too_large' });
    await expect(fetchMedia(`${base}/declared`, { maxBytes: 999_999 })).rejects.toThrow('more than 999999 bytes');
    expect((await fetchMedia(`${base}/picture`, { maxBytes: png.length })).bytes.length).toBe(png.length);
  });

  it('stops when time is up or the caller says so', async () => {
    const error = fetchMedia(`${base}/silent`, { timeout: 100 });
    await expect(error).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('longer than 0.1 s'),
    });
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 30);
    await expect(fetchMedia(`${base}/silent`, { signal: stop.signal })).rejects.toMatchObject({ code: 'aborted' });
  });

  it('tells failures apart, without credentials or query', async () => {
    await expect(fetchMedia(`${base}/none`)).rejects.toMatchObject({
      code: 'fetch_failed',
      message: `${base}/none: server returned HTTP 404.`,
    });
    await expect(fetchMedia(`${base}/broken`)).rejects.toMatchObject({ code: 'fetch_failed' });
    await expect(fetchMedia('http://user:secret@127.0.0.1:1/x?token=t')).rejects.toThrow(
      /^http:\/\/127\.0\.0\.1:1\/x failed to download \(ECONNREFUSED\)\. Check the address, or send the file itself\.$/,
    );
    for (const url of ['ftp://host/x', 'file:///etc/passwd', 'not a url', '']) {
      await expect(fetchMedia(url)).rejects.toMatchObject({ code: 'invalid_url' });
    }
  });

  it('decodes data URLs', async () => {
    expect(await fetchMedia(`data:image/png;base64,${png.toString('base64')}`)).toMatchObject({ type: 'png' });
    expect(Buffer.from((await fetchMedia('data:,a%20b%C3%A9é')).bytes).toString()).toBe('a béé');
    expect(Buffer.from((await fetchMedia('DATA:text/plain;base64,aGk%3D')).bytes).toString()).toBe('hi');
    await expect(fetchMedia('data:image/png;base64')).rejects.toThrow('without a comma');
    await expect(fetchMedia('data:image/png;base64,a*b')).rejects.toThrow('not base64');
    await expect(fetchMedia(`data:,${'x'.repeat(11)}`, { maxBytes: 10 })).rejects.toThrow('11 bytes, the limit is 10');
    await expect(fetchMedia(`data:;base64,${'A'.repeat(400)}`, { maxBytes: 10 })).rejects.toMatchObject({
      code: 'too_large',
    });
  });
});

describe('fetchMediaToFile', () => {
  it('writes the file whole', async () => {
    const path = join(folder, 'picture.png');
    expect(await fetchMediaToFile(`${base}/picture`, path)).toEqual({ path, size: png.length, type: 'png' });
    expect(readFileSync(path).equals(png)).toBe(true);
  });

  it('leaves nothing of what failed', async () => {
    for (const name of ['endless', 'broken', 'none']) {
      await expect(fetchMediaToFile(`${base}/${name}`, join(folder, name), { maxBytes: 200_000 })).rejects.toThrow();
    }
    expect(readdirSync(folder)).toEqual(['picture.png']);
  });
});

describe('isPublicAddress', () => {
  it('tells public addresses from all others', () => {
    const open = ['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '::ffff:8.8.8.8'];
    const closed = [
      '127.0.0.1',
      '10.1.2.3',
      '172.31.255.255',
      '192.168.0.1',
      '169.254.169.254',
      '100.64.0.1',
      '0.0.0.0',
    ];
    const closed6 = [
      '255.255.255.255',
      '239.1.1.1',
      '::1',
      '::',
      'fe80::1%eth0',
      'fc00::1',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
    ];
    const tunnels = ['2002:7f00:1::', '2001:0:1::', '2001:db8::1', '64:ff9b::7f00:1', 'ff02::1'];
    expect(open.filter((address) => !isPublicAddress(address))).toEqual([]);
    expect([...closed, ...closed6, ...tunnels, 'localhost', ''].filter(isPublicAddress)).toEqual([]);
  });
});
