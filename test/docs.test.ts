// The documentation's examples run, and its links lead somewhere.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from './architecture/source-tree.js';
import { type Example, extractExamples, promisedFiles, readExamples, runExample } from './docs/examples.js';

const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...markdownIn('docs')];

function markdownIn(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return markdownIn(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

const ts = (code: string): Example => ({ file: 'a.md', line: 1, language: 'ts', code });
const sh = (code: string): Example => ({ file: 'a.md', line: 1, language: 'sh', code });

describe('finding examples', () => {
  test('takes the blocks that are marked, with their lines', () => {
    const text = [
      '# A',
      '```ts run',
      'const a = 1;',
      '',
      'a;',
      '```',
      '```ts',
      'b;',
      '```',
      '```sh run',
      'c',
      '```',
    ].join('\n');
    expect(extractExamples('a.md', text)).toEqual([
      { file: 'a.md', line: 2, language: 'ts', code: 'const a = 1;\n\na;\n' },
      { file: 'a.md', line: 10, language: 'sh', code: 'c\n' },
    ]);
  });

  test('leaves blocks inside of longer fences alone', () => {
    expect(extractExamples('a.md', ['````', '```ts run', 'a;', '```', '````'].join('\n'))).toEqual([]);
  });

  test('refuses a block that is never closed', () => {
    expect(() => extractExamples('a.md', '```ts run\na;\n')).toThrow('a.md:1');
  });

  test('knows what an example promises to write', () => {
    expect(promisedFiles(ts('await save(); // -> ball.mp4\n// not -> that\n'))).toEqual(['ball.mp4']);
    expect(promisedFiles(sh('touch a # -> a'))).toEqual(['a']);
  });
});

describe('running examples', () => {
  test('TypeScript is run where its files lie', async () => {
    const code = `import { writeFileSync, readFileSync } from 'node:fs';
      const text: string = readFileSync('in.txt', 'utf8');
      writeFileSync('out.txt', text); // -> out.txt
      console.log(text satisfies string);`;
    const outcome = await runExample(root, ts(code), (folder) => writeFileSync(join(folder, 'in.txt'), 'hello'));
    expect(outcome).toEqual({ ok: true, output: 'hello\n' });
  });

  test('an error, or a promise that is not kept, is a failure', async () => {
    expect(await runExample(root, ts(`throw new Error('no luck');`))).toMatchObject({
      ok: false,
      output: expect.stringContaining('no luck'),
    });
    expect(await runExample(root, ts('// -> ball.mp4'))).toMatchObject({
      ok: false,
      output: expect.stringContaining('did not write ball.mp4'),
    });
    expect(await runExample(root, sh('false\ntrue'))).toMatchObject({ ok: false });
  });

  test('shell commands run one after the other', async () => {
    expect(await runExample(root, sh('npx echo a > b # -> b\ncat b'))).toEqual({ ok: true, output: 'a\n' });
  });
});

describe('links', () => {
  const links = pages.flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8').replace(/^```[\s\S]*?^```$/gm, '');
    return [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => ({ page, target }));
  });

  test('lead to files of the repository', () => {
    const local = links.filter(({ target }) => !/^[a-z]+:/.test(target));
    expect(local.length).toBeGreaterThan(5);
    expect(local.filter(({ page, target }) => !existsSync(join(root, dirname(page), target)))).toEqual([]);
  });

  test('reach every decision', () => {
    const index = links.filter(({ page }) => page === 'docs/decisions/README.md').map(({ target }) => target);
    const records = readdirSync(join(root, 'docs/decisions')).filter((name) => name !== 'README.md');
    expect(index.sort()).toEqual(records.sort());
  });

  test('records are short', () => {
    for (const page of pages.filter((name) => /^docs\/decisions\/(?!README)/.test(name))) {
      const lines = readFileSync(join(root, page), 'utf8').trimEnd().split('\n').length;
      if (page !== 'docs/decisions/reference.md') expect(lines, page).toBeLessThanOrEqual(40);
    }
  });
});

const examples = readExamples(root, pages);

test.each(examples)('$file:$line runs', { timeout: 150_000 }, async (example) => {
  const { ok, output } = await runExample(root, example);
  expect(ok, output).toBe(true);
});
