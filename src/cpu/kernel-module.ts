// The compiled kernels: where they lie, and the signatures of what they export. Addresses, strides and runs are in bytes.
import { existsSync, readFileSync } from 'node:fs';

/** The exports of `kernels/index.ts`, in its order of arguments. */
export interface Kernels {
  setWork(address: number): void;
  gemm(
    m: number,
    n: number,
    k: number,
    a: number,
    lda: number,
    b: number,
    ldb: number,
    panel: number,
    c: number,
    ldc: number,
    add: boolean,
  ): void;
  copyRows(to: number, toStride: number, from: number, fromStride: number, bytes: number, rows: number): void;
  copyStrided(
    to: number,
    from: number,
    n0: number,
    s0: number,
    n1: number,
    s1: number,
    n2: number,
    s2: number,
    unit: number,
  ): void;
  fillRows(to: number, stride: number, row: number, count: number, rows: number): void;
  upsampleRows(to: number, from: number, rows: number, w: number, pixel: number, factor: number): void;
  gatherPatches(
    to: number,
    x: number,
    c: number,
    first: number,
    count: number,
    tap: number,
    lastTap: number,
    shape: number,
  ): void;
  rmsNormRows(to: number, x: number, weight: number, rows: number, c: number, eps: number, kind: number): void;
  layerNormRows(to: number, x: number, weight: number, bias: number, rows: number, c: number, eps: number): void;
  widen(to: number, from: number, count: number, dtype: number, scale: number): void;
  narrow(to: number, from: number, count: number): void;
  scatterRow(to: number, step: number, from: number, c: number, taps: number): void;
  panelColumns(to: number, from: number, stride: number, rows: number, n: number): void;
  interleaveRows(to: number, from: number, stride: number, rows: number, k: number): void;
  pairSame(to: number, a: number, b: number, count: number, multiply: boolean): void;
  pairSpread(to: number, a: number, b: number, rows: number, c: number, multiply: boolean): void;
  activate(to: number, x: number, count: number, kind: number): void;
  swigluRows(to: number, x: number, rows: number, f: number): void;
  snakeRows(to: number, x: number, frequency: number, inverse: number, rows: number, c: number): void;
  meanRows(to: number, x: number, rows: number, c: number): void;
  combine(to: number, table: number, terms: number, start: number, count: number): void;
  addRows(to: number, x: number, row: number, mask: number, rows: number, c: number): void;
  toBytes(to: number, x: number, count: number): void;
  rotateHeads(
    to: number,
    x: number,
    stride: number,
    rows: number,
    heads: number,
    d: number,
    weight: number,
    eps: number,
    cos: number,
    sin: number,
  ): void;
  softmaxBlock(
    scores: number,
    stride: number,
    rows: number,
    columns: number,
    limit: number,
    scale: number,
    state: number,
    out: number,
    d: number,
    first: boolean,
  ): void;
  divideRows(to: number, stride: number, out: number, rows: number, d: number, state: number): void;
}

/** A file built beside this one; when this one runs as a source, the built one under `dist/cpu`. */
export function builtFile(name: string): URL {
  const beside = new URL(name, import.meta.url);
  if (existsSync(beside)) return beside;
  const built = new URL(`../../dist/cpu/${name}`, import.meta.url);
  if (existsSync(built)) return built;
  throw new Error(`${name} is neither beside ${import.meta.url} nor in dist/cpu: run "npm run build"`);
}

/** Compiles the kernels once; the module can be sent to other threads. */
export function compileKernels(): WebAssembly.Module {
  return new WebAssembly.Module(readFileSync(builtFile('kernels.wasm')));
}

/** The kernels on a memory; each thread needs its own instance. */
export function startKernels(module: WebAssembly.Module, memory: WebAssembly.Memory): Kernels {
  return new WebAssembly.Instance<Kernels>(module, { env: { memory } }).exports;
}
