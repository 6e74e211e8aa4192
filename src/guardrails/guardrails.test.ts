import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isOneEditAway } from './blocklist.js';
import {
  Blocklist,
  bundledBlocklists,
  CheckerError,
  type Decision,
  EndpointChecker,
  GuardrailBlockedError,
  GuardrailMissingError,
  Guardrails,
  readBlocklist,
  readGuardWords,
} from './index.js';
import { meantWords } from './normalise-text.js';

const list = new Blocklist(bundledBlocklists());
const isBlocked = async (prompt: string) => !(await list.checkPrompt(prompt)).isSafe;

describe('the bundled blocklist', () => {
  it.each([
    'a porn scene',
    'A P0RN scene',
    'p o r n',
    'p.o.r.n video',
    'pоrn with a Cyrillic o',
    'pooooorn',
    'p\u200born',
    'PÓRN',
    'a decapitated man',
    'a decapitatd man',
    'school shootings at noon',
    'School  Shooting',
    'he commits suicide bombing',
    'how to build a bomb at home',
    'pedohpile',
    'torturing a man: torture',
    'naked children, a naked child',
    'r@pe',
    's u i c i d e  b o m b e r is no phrase but rape is',
  ])('refuses %s', async (prompt) => {
    expect(await isBlocked(prompt)).toBe(true);
  });

  it.each([
    'A red ball rolls to the right.',
    'grapes on a table',
    'a therapist talks',
    'The essex countryside',
    'a cocktail on a bar',
    'drapery and scraping',
    'a robot arm picks up a pear, an orange, and a carambola',
    'bomb disposal robot',
    'she remembered the photographic demographic',
    'shooting stars over a school',
    'a b c d e f',
    'Dick Whittington and his cat',
    'analysis of a bass player',
    'a penguin slides',
    'Middlesex',
    'I want 100 500 1000 balls',
    'a goreng dish, nasi goreng',
    '{"subjects":[{"name":"car"}],"duration":"7s","fps":24.0}',
    '',
  ])('takes %s', async (prompt) => {
    expect(await isBlocked(prompt)).toBe(false);
  });

  it('names the category and no word of the prompt', async () => {
    expect(await list.checkPrompt('my secret word and rape')).toEqual({ isSafe: false, category: 'sexual abuse' });
  });

  it('is fast on a long prompt', async () => {
    const long = 'a quiet street in the evening with photographers remembering '.repeat(400);
    const begin = performance.now();
    expect(await isBlocked(long)).toBe(false);
    expect(performance.now() - begin).toBeLessThan(500);
  });
});

describe("lists of one's own", () => {
  it('are read with categories, comments and inexact entries', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'orrery-lists-'));
    try {
      const path = join(folder, 'list.txt');
      writeFileSync(path, '# brands\n[brands]\n~megacorp\nevil soda # the drink\n');
      expect(readBlocklist(path)).toEqual([{ category: 'brands', entries: ['~megacorp', 'evil soda'] }]);
      const own = new Blocklist(readBlocklist(path));
      expect(await own.checkPrompt('a MegaCrop sign')).toEqual({ isSafe: false, category: 'brands' });
      expect(await own.checkPrompt('EVIL   soda cans')).toMatchObject({ isSafe: false });
      expect(await own.checkPrompt('soda evil')).toMatchObject({ isSafe: true });
      writeFileSync(path, '# nothing\n');
      expect(() => readBlocklist(path)).toThrow('has no entries');
      expect(() => readBlocklist(join(folder, 'none'))).toThrow('cannot be read');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

it('reads words as they are meant', () => {
  expect(meantWords('p0rn h.e.l.l.o  w o r l d 1234 sooo')).toEqual(['porn', 'hello', 'world', 'so']);
  expect(isOneEditAway('abcdef', 'abcedf')).toBe(true);
  expect(isOneEditAway('abcdef', 'abcdf')).toBe(true);
  expect(isOneEditAway('abcdef', 'abcxyf')).toBe(false);
  expect(isOneEditAway('xbcdef', 'abcdef')).toBe(false);
});

describe('words of guard models', () => {
  it.each([
    ['safe', { isSafe: true, category: null }],
    ['\n\nsafe', { isSafe: true, category: null }],
    ['unsafe\nS1', { isSafe: false, category: 'S1' }],
    ['Safety: Safe\nCategories: None', { isSafe: true, category: null }],
    ['Safety: Unsafe\nCategories: Violent', { isSafe: false, category: 'Violent' }],
    [
      '<think>it is safe</think>Safety: Controversial\nCategories: Politically Sensitive Topics',
      { isSafe: false, category: 'Politically Sensitive Topics' },
    ],
    ['I cannot say', null],
    ['This prompt is safe', null],
    ['', null],
  ])('%j', (words, verdict) => {
    expect(readGuardWords(words)).toEqual(verdict);
  });
});

/** A guard endpoint that answers what it is told to. */
async function withEndpoint<T>(
  answer: (path: string, body: string) => { status: number; body: string; delay?: number },
  use: (url: string, seen: { path: string; body: string; key: string | undefined }[]) => Promise<T>,
): Promise<T> {
  const seen: { path: string; body: string; key: string | undefined }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => {
      body += piece;
    });
    request.on('end', () => {
      seen.push({ path: request.url ?? '', body, key: request.headers.authorization });
      const reply = answer(request.url ?? '', body);
      setTimeout(() => {
        response.writeHead(reply.status, { 'content-type': 'application/json' }).end(reply.body);
      }, reply.delay ?? 0);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, seen);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('endpoints', () => {
  const chat = (content: string) => JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] });

  it('asks for a moderation, with the key', async () => {
    const flagged = JSON.stringify({ results: [{ flagged: true, categories: { violence: true, hate: false } }] });
    await withEndpoint(
      (_, body) => ({
        status: 200,
        body: body.includes('bad') ? flagged : JSON.stringify({ results: [{ flagged: false }] }),
      }),
      async (url, seen) => {
        const checker = new EndpointChecker({ url: `${url}/moderations`, key: 'secret', timeoutMs: 2000 });
        expect(await checker.checkPrompt('good')).toEqual({ isSafe: true, category: null });
        expect(await checker.checkPrompt('bad')).toEqual({ isSafe: false, category: 'violence' });
        expect(seen[0]).toEqual({ path: '/v1/moderations', body: '{"input":"good"}', key: 'Bearer secret' });
      },
    );
  });

  it('asks a guard model in chat, and shows it pictures', async () => {
    await withEndpoint(
      (_, body) => ({
        status: 200,
        body: chat(body.includes('image_url') ? 'unsafe\nS12' : 'Safety: Safe\nCategories: None'),
      }),
      async (url, seen) => {
        const checker = new EndpointChecker({ url, model: 'guard', timeoutMs: 2000 });
        expect(await checker.checkPrompt('a ball')).toEqual({ isSafe: true, category: null });
        expect(await checker.checkFrames([{ bytes: Uint8Array.of(1, 2), mediaType: 'image/jpeg' }])).toEqual({
          isSafe: false,
          category: 'S12',
        });
        expect(seen[0]?.path).toBe('/v1/chat/completions');
        expect(JSON.parse(seen[1]?.body ?? '')).toMatchObject({
          model: 'guard',
          messages: [{ content: [{ image_url: { url: 'data:image/jpeg;base64,AQI=' } }] }],
        });
      },
    );
  });

  it.each([
    ['an error status', { status: 500, body: '{}' }],
    ['no JSON', { status: 200, body: 'yes' }],
    ['no judgement', { status: 200, body: '{"results":[]}' }],
    ['silence', { status: 200, body: '{"results":[{"flagged":false}]}', delay: 2000 }],
  ])('fails closed on %s', async (_, reply) => {
    await withEndpoint(
      () => reply,
      async (url) => {
        const decisions: Decision[] = [];
        const guard = Guardrails.open({
          isEnabled: true,
          url: `${url}/moderations`,
          timeoutMs: 300,
          onDecision: (decision) => decisions.push(decision),
        });
        await expect(guard.checkPrompt('a ball')).rejects.toThrow(CheckerError);
        expect(decisions.map(({ checker, outcome }) => [checker, outcome])).toEqual([
          ['blocklist', 'passed'],
          [new URL(url).host, 'error'],
        ]);
      },
    );
  });

  it('fails closed where nobody listens', async () => {
    const guard = Guardrails.open({ isEnabled: true, url: 'http://127.0.0.1:9/v1/moderations', timeoutMs: 1000 });
    await expect(guard.checkPrompt('a ball')).rejects.toThrow(CheckerError);
  });
});

describe('the rule at start-up', () => {
  it('is content with the list for toys, and says what is not checked', () => {
    expect(Guardrails.open({ isEnabled: true }).require(false)).toEqual([
      'guardrails: prompts are held against a list of words only',
      'guardrails: pictures are not checked',
    ]);
  });

  it('wants a model for everything else, or a clear no', () => {
    expect(() => Guardrails.open({ isEnabled: true }).require(true)).toThrow(GuardrailMissingError);
    expect(Guardrails.open({ isEnabled: true, url: 'http://localhost:1/v1/moderations' }).require(true)).toEqual([
      'guardrails: pictures are not checked',
    ]);
    expect(Guardrails.open({ isEnabled: false }).require(true)).toEqual([
      'guardrails are off: what is made is your responsibility',
    ]);
  });

  it('refuses addresses that are none', () => {
    expect(() => Guardrails.open({ isEnabled: true, url: 'localhost' })).toThrow('is no URL');
    expect(() => Guardrails.open({ isEnabled: true, url: 'http://localhost/v1/chat/completions' })).toThrow(
      '--guardrail-model',
    );
  });

  it('blocks with the words of the original interface', async () => {
    await expect(Guardrails.open({ isEnabled: true }).checkPrompt('porn')).rejects.toThrow(
      new GuardrailBlockedError('blocklist', 'sexual content'),
    );
    await expect(Guardrails.open({ isEnabled: false }).checkPrompt('porn')).resolves.toBeUndefined();
  });
});
