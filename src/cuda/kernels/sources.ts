// The kernels' texts: where the `.cu` files lie, and the headers that they include.
import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** A kernel: its file below this folder, its entry point, and one letter for each argument (see `Kernel.signature`). */
export interface KernelSource {
  /** Path without `.cu`, such as `rows/rms-norm`. */
  readonly file: string;
  readonly entry: string;
  readonly signature: string;
}

/** A kernel's text and that of every header it includes, by the name it includes it under. */
export interface KernelText {
  readonly file: string;
  readonly source: string;
  readonly headers: readonly { readonly name: string; readonly text: string }[];
}

const headerFiles = ['common.cuh', 'mma.cuh', 'rows/row.cuh', 'hopper/hopper.cuh', 'hopper/attention.cuh'];

/** The folder with the sources: beside this file, or the source tree's where this file was built without them. */
export function kernelFolder(): URL {
  const beside = new URL('.', import.meta.url);
  if (existsSync(new URL('common.cuh', beside))) return beside;
  const source = new URL('../../../src/cuda/kernels/', import.meta.url);
  if (existsSync(new URL('common.cuh', source))) return source;
  throw new Error(`no kernel sources beside ${beside.href} nor at ${source.href}: run "npm run build"`);
}

/** @throws the system's own error where a file is missing. */
export function readKernelText({ file }: Pick<KernelSource, 'file'>): KernelText {
  const folder = kernelFolder();
  const read = (path: string) => readFileSync(new URL(path, folder), 'utf8');
  return {
    file: `${file}.cu`,
    source: read(`${file}.cu`),
    headers: headerFiles.map((path) => ({ name: basename(path), text: read(path) })),
  };
}
