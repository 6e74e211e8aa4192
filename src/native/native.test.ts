// Tests of the native room against the C library that every process has.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isFfiAvailable, loadFfi } from './ffi.js';
import { openLibrary, openProcess } from './library.js';
import { mapFile } from './mapped-file.js';
import { addressOf, viewAddress } from './memory.js';
import { describeErrno, NativeError } from './native-error.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-native-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('ffi', () => {
  it('is available with an enlarged stack', () => {
    expect(isFfiAvailable()).toBe(true);
    expect(loadFfi().config()).toMatchObject({ sync_stack_size: 16 << 20 });
  });

  it('names system errors', () => {
    expect(describeErrno(2)).toBe('ENOENT: no such file or directory (2)');
    expect(describeErrno(12)).toMatch(/^ENOMEM: /);
    expect(describeErrno(9999)).toBe('error 9999');
  });
});

describe('openLibrary', () => {
  it('takes the first name that loads, keeps it and calls into it', () => {
    const library = openLibrary(['libabsent-orrery.so.7', 'libm.so.6'], { keep: true });
    expect(library.path).toBe('libm.so.6');
    const squareRoot = library.declare('sqrt', 'double', ['double']);
    expect(squareRoot(9)).toBe(3);
    expect(library.has('sqrt')).toBe(true);
    expect(library.has('sqrt_orrery')).toBe(false);
  });

  it('says why each name failed', () => {
    const text = join(folder, 'text.so');
    writeFileSync(text, 'no library');
    expect(() => openLibrary(['libabsent-a.so', text, 'libabsent-b.so'])).toThrow(
      /^no library could be opened \(.*text\.so: .*(invalid ELF header|file too short|not a mach-o).*; not found: libabsent-a\.so, libabsent-b\.so\)$/,
    );
    expect(() => openLibrary(['libabsent-a.so'], { keep: true })).toThrow(NativeError);
    expect(() => openLibrary([])).toThrow('no name was given');
  });

  it('names a missing function', () => {
    expect(() => openProcess().declare('orrery_absent', 'int', [])).toThrow(/orrery_absent of \(process\)/);
  });
});

describe('memory', () => {
  it('views the same bytes that it was given the address of', () => {
    const bytes = new Uint8Array([7, 8, 9, 10]);
    const view = viewAddress(addressOf(bytes) + 1n, 2);
    expect([...view]).toEqual([8, 9]);
    bytes[1] = 42;
    expect(view[0]).toBe(42);
  });

  it('refuses what would end the process', () => {
    expect(() => viewAddress(0n, 1)).toThrow(NativeError);
    expect(() => viewAddress(4096n, 2 ** 53)).toThrow(/several views/);
    expect(viewAddress(0n, 0)).toHaveLength(0);
  });
});

describe.each([
  { map: true, title: 'mapped' },
  { map: false, title: 'read by ranges' },
])('mapFile, $title', ({ map }) => {
  it('views bytes by offset', () => {
    const path = join(folder, 'bytes.bin');
    writeFileSync(
      path,
      Uint8Array.from({ length: 10_000 }, (_, i) => i % 251),
    );
    const file = mapFile(path, { map });
    expect(file.size).toBe(10_000);
    expect(file.address === undefined).toBe(!map);
    expect([...file.view(9_997, 3)]).toEqual([9_997 % 251, 9_998 % 251, 9_999 % 251]);
    expect(file.view(10_000, 0)).toHaveLength(0);
    expect(() => file.view(9_998, 3)).toThrow(/outside its 10000 bytes/);
    expect(() => file.view(-1, 3)).toThrow(NativeError);
    expect(() => file.view(0.5, 3)).toThrow(NativeError);
    const kept = file.view(5, 1);
    file[Symbol.dispose]();
    file[Symbol.dispose]();
    expect(kept[0]).toBe(5);
    expect(() => file.view(0, 1)).toThrow(/already closed/);
  });

  it('opens an empty file and refuses folders and missing files', () => {
    const path = join(folder, 'empty.bin');
    writeFileSync(path, '');
    const file = mapFile(path, { map });
    expect(file.size).toBe(0);
    expect(file.view(0, 0)).toHaveLength(0);
    expect(() => mapFile(folder, { map })).toThrow(/not a regular file/);
    expect(() => mapFile(join(folder, 'absent'), { map })).toThrow(/ENOENT/);
  });

  it('opens a large sparse file without making it resident', () => {
    const path = join(folder, 'large.bin');
    writeFileSync(path, '');
    truncateSync(path, 1_600_000_000);
    const before = process.memoryUsage.rss();
    using file = mapFile(path, { map });
    expect(file.view(1_599_999_999, 1)[0]).toBe(0);
    expect(process.memoryUsage.rss() - before).toBeLessThan(20e6);
  });
});

// Runs this room, as built, in a process of its own.
function childArguments(script: string): string[] {
  return ['--input-type=module', '-e', script];
}
const room = new URL('../../dist/native/', import.meta.url).href;

describe('in a process of its own', () => {
  it('unmaps once disposed and the views are collected, and views made before dispose stay readable', () => {
    const path = join(folder, 'mapped-once.bin');
    writeFileSync(path, new Uint8Array(1 << 20).fill(3));
    const script = `
      import { readFileSync } from 'node:fs';
      import { setTimeout } from 'node:timers/promises';
      const { mapFile } = await import(${JSON.stringify(`${room}mapped-file.js`)});
      const isMapped = () => readFileSync('/proc/self/maps', 'utf8').includes('mapped-once.bin');
      const file = mapFile(${JSON.stringify(path)});
      let view = file.view(100, 10);
      file[Symbol.dispose]();
      gc(); await setTimeout(5); gc(); await setTimeout(5);
      const seen = [isMapped(), view[0]];
      view = undefined;
      for (let i = 0; i < 100 && isMapped(); i++) { gc(); await setTimeout(5); }
      seen.push(isMapped());
      console.log(JSON.stringify(seen));
    `;
    const out = execFileSync(process.execPath, ['--expose-gc', ...childArguments(script)], { encoding: 'utf8' });
    expect(JSON.parse(out)).toEqual([true, 3, false]);
  });

  it('says how to get the FFI package where its binary is missing, and still reads files', () => {
    const path = join(folder, 'fallback.bin');
    writeFileSync(path, Uint8Array.of(1, 2, 3));
    const script = `
      import Module from 'node:module';
      const load = Module._load;
      Module._load = (name, ...rest) => {
        if (name.startsWith('koffi')) throw new Error('no binary for this platform');
        return load(name, ...rest);
      };
      const { mapFile } = await import(${JSON.stringify(`${room}mapped-file.js`)});
      const { openProcess } = await import(${JSON.stringify(`${room}library.js`)});
      const file = mapFile(${JSON.stringify(path)});
      let message = '';
      try { openProcess(); } catch (error) { message = error.name + ': ' + error.message; }
      console.log(JSON.stringify([[...file.view(1, 2)], String(file.address), message]));
    `;
    const out = execFileSync(process.execPath, childArguments(script), { encoding: 'utf8' });
    expect(JSON.parse(out)).toEqual([
      [2, 3],
      'undefined',
      `NativeError: cannot load koffi on ${process.platform}-${process.arch}: no binary for this platform; install it with its optional packages (npm install koffi --include=optional)`,
    ]);
  });

  it.runIf(process.platform === 'linux')('dies with its parent when asked to', async () => {
    const grandchild = `
      const { setParentDeathSignal } = await import(${JSON.stringify(`${room}process-signals.js`)});
      console.log(JSON.stringify([setParentDeathSignal('SIGKILL'), process.pid]));
      setInterval(() => {}, 1000);
    `;
    const child = `
      import { spawn } from 'node:child_process';
      spawn(process.execPath, ${JSON.stringify(childArguments(grandchild))}, { stdio: ['ignore', 'inherit', 'inherit'] });
      setInterval(() => {}, 1000);
    `;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', child], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const line = await new Promise<string>((resolve) => parent.stdout.once('data', (data) => resolve(String(data))));
    const [supported, pid] = JSON.parse(line);
    expect(supported).toBe(true);
    expect(() => process.kill(pid, 0)).not.toThrow();
    parent.kill('SIGKILL');
    const isAlive = () => {
      try {
        process.kill(pid, 0);
        return true;
      } catch {
        return false;
      }
    };
    await expect.poll(isAlive, { timeout: 5000 }).toBe(false);
  });
});
