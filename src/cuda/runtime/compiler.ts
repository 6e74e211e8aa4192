// Kernel source to machine code by NVRTC. No toolkit header is needed: sources bring their own.
import { addressOf } from '../../native/index.js';
import { CudaError, KernelCompileError } from '../ffi/errors.js';
import type { Nvrtc } from '../ffi/nvrtc.js';
import type { KernelText } from '../kernels/sources.js';

/** Turns a kernel's text into an image that the driver loads. */
export interface Compiler {
  /** Part of the key under which images are kept. */
  readonly version: string;
  /** @throws KernelCompileError */
  compile(text: KernelText, options: readonly string[]): Uint8Array;
}

const cString = (text: string) => Buffer.from(`${text}\0`, 'utf8');

/** Addresses of C strings, and the strings, which must outlive their use. */
function stringTable(texts: readonly string[]): { readonly table: BigUint64Array; readonly kept: Buffer[] } {
  const kept = texts.map(cString);
  const table = new BigUint64Array(Math.max(1, texts.length));
  for (const [i, text] of kept.entries()) table[i] = addressOf(text);
  return { table, kept };
}

/** The compiler of an opened NVRTC. */
export function createCompiler(nvrtc: Nvrtc): Compiler {
  const check = (call: string, code: number) => {
    if (code !== 0) throw new CudaError(call, code, nvrtc.nvrtcGetErrorString(code) ?? '');
  };
  const [major, minor] = [new Int32Array(1), new Int32Array(1)];
  check('nvrtcVersion', nvrtc.nvrtcVersion(major, minor));
  const size = new BigUint64Array(1);

  function readLog(program: number): string {
    check('nvrtcGetProgramLogSize', nvrtc.nvrtcGetProgramLogSize(program, size));
    const log = new Uint8Array(Number(size[0]));
    check('nvrtcGetProgramLog', nvrtc.nvrtcGetProgramLog(program, log));
    return Buffer.from(log).toString('utf8').replace(/\0+$/, '');
  }

  return {
    version: `nvrtc ${major[0]}.${minor[0]}`,
    compile({ file, source, headers }, options) {
      const names = stringTable(headers.map(({ name }) => name));
      const texts = stringTable(headers.map(({ text }) => text));
      const flags = stringTable(options);
      const handle = new BigUint64Array(1);
      const created = nvrtc.nvrtcCreateProgram(handle, cString(source), file, headers.length, texts.table, names.table);
      check('nvrtcCreateProgram', created);
      try {
        const program = Number(handle[0]);
        const code = nvrtc.nvrtcCompileProgram(program, options.length, flags.table);
        if (code !== 0) {
          const log = readLog(program);
          throw new KernelCompileError(
            `${file} (${options.join(' ')})`,
            log || (nvrtc.nvrtcGetErrorString(code) ?? ''),
          );
        }
        check('nvrtcGetCUBINSize', nvrtc.nvrtcGetCUBINSize(program, size));
        const image = new Uint8Array(Number(size[0]));
        check('nvrtcGetCUBIN', nvrtc.nvrtcGetCUBIN(program, image));
        return image;
      } finally {
        nvrtc.nvrtcDestroyProgram(handle);
        // The compiler had addresses of these strings: they must not be collected before this line.
        for (const { kept } of [names, texts, flags]) kept.length = 0;
      }
    },
  };
}
