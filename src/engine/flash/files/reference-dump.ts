// A reference dump: what conditions a denoise run, and the latent it should end in. Source: performance spec, A.8.
import { elementCount } from '../../../backend/index.js';
import { type FileTensor, openSafetensors, toFloat32 } from '../../../weights/index.js';
import { IncompleteFileError } from './incomplete-file-error.js';
import type { TransformerShape } from './transformer-shape.js';

/** Values of a tensor, float32. */
export interface Floats {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

/** `[1, C, T, H, W]` */
export type LatentShape = readonly [1, number, number, number, number];

/** An opened dump that fits a transformer. Headers have been read, values are read when asked for. */
export interface ReferenceDump extends Disposable {
  readonly path: string;
  readonly steps: number; // N
  readonly textTokens: number; // L
  readonly latentShape: LatentShape;
  /** Pixels of the latent grid that a token spans, each way. */
  readonly patch: number; // p
  /** Flow shift the dump says it was made with; null in dumps that do not say. */
  readonly shift: number | null;
  /** Rows of the text tower's input `[L, D]`. */
  textRows(): Floats;
  textRope(): { readonly cos: Floats; readonly sin: Floats }; // [L, d]
  genRope(): { readonly cos: Floats; readonly sin: Floats }; // [S, d]
  /** Initial noise as patches `[S, p p C]`. */
  noiseTokens(): Floats;
  /** Timestep embeddings `[N, D]`, and 1 for each token `[S]` that carries them. */
  timesteps(): { readonly rows: Float32Array; readonly noisy: Float32Array };
  finalLatent(): Float32Array;
}

/** Keys of a dump. */
export const dumpKeys = {
  textRows: 'once/und_in',
  textRope: { cos: 'once/rope_und_cos', sin: 'once/rope_und_sin' },
  genRope: { cos: 'once/rope_gen_cos', sin: 'once/rope_gen_sin' },
  finalLatent: 'once/final_vision_latent__0',
  genRows: 's00/gen_in',
  noiseTokens: 's00/vae2llm_in',
  timestep: (step: number) => `s${String(step).padStart(2, '0')}/timestep_emb`,
  shift: 'meta/shift',
} as const;

const timestepKey = /^s(\d{2,})\/timestep_emb$/;

/**
 * Opens a dump and holds every key against the transformer it is to run on.
 * @throws CheckpointError when it cannot be opened; IncompleteFileError naming all keys that are missing or do not fit
 */
export function openReferenceDump(path: string, transformer: TransformerShape): ReferenceDump {
  const file = openSafetensors(path);
  try {
    return describeDump(path, file, transformer);
  } catch (error) {
    file[Symbol.dispose]();
    throw error;
  }
}

function describeDump(
  path: string,
  file: ReturnType<typeof openSafetensors>,
  transformer: TransformerShape,
): ReferenceDump {
  const { tensors } = file;
  const steps = countSteps([...tensors.keys()]);
  const faults = findFaults(tensors, steps, transformer);
  if (faults.missing.length + faults.misfits.length > 0) {
    const remedy = 'give a dump of the reference text-to-video run for this transformer (orrery dump writes one)';
    throw new IncompleteFileError(path, faults, remedy);
  }
  const read = (key: string): Floats => {
    const tensor = tensors.get(key);
    if (tensor?.dtype === undefined) throw new Error(`${path}: ${key} was there when the file was opened`);
    const { shape, dtype } = tensor;
    return { shape, values: toFloat32({ shape, dtype, bytes: tensor.bytes() }) };
  };
  const both = ({ cos, sin }: { readonly cos: string; readonly sin: string }) => ({ cos: read(cos), sin: read(sin) });
  const [, channels = 0, frames = 0, height = 0, width = 0] = tensors.get(dumpKeys.finalLatent)?.shape ?? [];
  const tokens = tensors.get(dumpKeys.noiseTokens)?.shape[0] ?? 0;
  return {
    path,
    steps,
    textTokens: tensors.get(dumpKeys.textRows)?.shape[0] ?? 0,
    latentShape: [1, channels, frames, height, width],
    patch: patchSize(transformer, channels),
    shift: tensors.has(dumpKeys.shift) ? (read(dumpKeys.shift).values[0] ?? null) : null,
    textRows: () => read(dumpKeys.textRows),
    textRope: () => both(dumpKeys.textRope),
    genRope: () => both(dumpKeys.genRope),
    noiseTokens: () => read(dumpKeys.noiseTokens),
    timesteps: () => readTimesteps({ path, steps, tokens, read }),
    finalLatent: () => read(dumpKeys.finalLatent).values,
    [Symbol.dispose]: () => file[Symbol.dispose](),
  };
}

function countSteps(names: readonly string[]): number {
  const indexes = names.flatMap((name) => timestepKey.exec(name)?.[1] ?? []).map(Number);
  return indexes.reduce((most, index) => Math.max(most, index + 1), 1);
}

function patchSize({ patchDim }: TransformerShape, channels: number): number {
  return Math.sqrt(patchDim / channels);
}

type Tensors = ReadonlyMap<string, FileTensor>;

function findFaults(tensors: Tensors, steps: number, transformer: TransformerShape) {
  const missing: string[] = [];
  const misfits: string[] = [];
  const { hidden, headDim, patchDim } = transformer;
  const expect = (key: string, wanted: string, fits: (shape: readonly number[]) => boolean) => {
    const tensor = tensors.get(key);
    if (tensor === undefined) missing.push(key);
    else if (tensor.dtype === undefined || tensor.dtype.startsWith('f8'))
      misfits.push(`${key} is ${tensor.fileDtype}, expected F32, BF16 or F16`);
    else if (!fits(tensor.shape)) misfits.push(`${key} is [${tensor.shape.join(', ')}], expected ${wanted}`);
  };
  const matrix = (key: string, rows: number | undefined, columns: number | undefined) =>
    expect(
      key,
      `[${rows ?? 'rows'}, ${columns ?? 'columns'}]`,
      ([r = 0, c, ...rest]) =>
        r > 0 && rest.length === 0 && r === (rows ?? r) && c !== undefined && c === (columns ?? c),
    );
  const tokens = checkLatent(transformer, expect);
  const textTokens = tensors.get(dumpKeys.textRows)?.shape[0];
  matrix(dumpKeys.textRows, undefined, hidden);
  matrix(dumpKeys.textRope.cos, textTokens, headDim);
  matrix(dumpKeys.textRope.sin, textTokens, headDim);
  matrix(dumpKeys.genRope.cos, tokens, headDim);
  matrix(dumpKeys.genRope.sin, tokens, headDim);
  matrix(dumpKeys.genRows, tokens, undefined);
  matrix(dumpKeys.noiseTokens, tokens, patchDim);
  for (let step = 0; step < steps; step++)
    expect(
      dumpKeys.timestep(step),
      `[1 or ${tokens ?? 'rows'}, ${hidden}]`,
      (shape) => shape.at(-1) === hidden && [1, tokens].includes(elementCount(shape.slice(0, -1))),
    );
  for (const key of tensors.keys())
    if (key.endsWith('/timestep_emb') && !timestepKey.test(key))
      misfits.push(`${key} is no step: steps are s00/timestep_emb, s01/timestep_emb and on`);
  if (tensors.has(dumpKeys.shift)) expect(dumpKeys.shift, 'one number', (shape) => elementCount(shape) === 1);
  return { missing, misfits };
}

/** Checks the final latent, which says how the tokens lie; gives the number of tokens where that is known. */
function checkLatent(
  transformer: TransformerShape,
  expect: (key: string, wanted: string, fits: (shape: readonly number[]) => boolean) => void,
): number | undefined {
  const { patchDim, patch } = transformer;
  let tokens: number | undefined;
  const channels = patch === null ? `${patchDim} / p^2` : String(patch.channels);
  expect(dumpKeys.finalLatent, `[1, ${channels}, T, H, W]`, (shape) => {
    const [batch, c = 0, frames = 0, height = 0, width = 0] = shape;
    const p = patchSize(transformer, c);
    const isWhole = shape.length === 5 && batch === 1 && frames * height * width > 0 && Number.isInteger(p);
    if (!isWhole || (patch !== null && patch.channels !== c)) return false;
    tokens = frames * Math.ceil(height / p) * Math.ceil(width / p);
    return true;
  });
  return tokens;
}

/** Reads one step after the other: stored a row per token, all together can be larger than the network. */
function readTimesteps({ path, steps, tokens, read }: TimestepSource) {
  let rows = new Float32Array();
  let noisy = new Float32Array(tokens);
  for (let step = 0; step < steps; step++) {
    const { shape, values } = read(dumpKeys.timestep(step));
    const hidden = shape.at(-1) ?? 0;
    if (step === 0) rows = new Float32Array(steps * hidden);
    const { row, mask } = splitRows(values, hidden, tokens, (problem) => refuseTimesteps(path, step, problem));
    rows.set(row, step * hidden);
    if (step === 0) noisy = mask;
    else if (!isEqual(noisy, mask)) refuseTimesteps(path, step, 'rows are zero for other tokens than those of s00');
  }
  return { rows, noisy };
}

interface TimestepSource {
  readonly path: string;
  readonly steps: number;
  readonly tokens: number;
  readonly read: (key: string) => Floats;
}

/** A step's embedding is one row for all tokens; tokens whose row is zero are clean and carry none. */
function splitRows(values: Float32Array, hidden: number, tokens: number, refuse: (problem: string) => never) {
  if (values.length === hidden) return { row: values, mask: new Float32Array(tokens).fill(1) };
  const mask = new Float32Array(tokens);
  let row: Float32Array | null = null;
  for (let token = 0; token < tokens; token++) {
    const own = values.subarray(token * hidden, (token + 1) * hidden);
    if (own.every((value) => value === 0)) continue;
    row ??= own;
    mask[token] = 1;
    if (!isEqual(own, row)) refuse(`rows differ, the first at token ${token}`);
  }
  return { row: row ?? refuse('rows are all zero'), mask };
}

function refuseTimesteps(path: string, step: number, problem: string): never {
  const misfits = [`${dumpKeys.timestep(step)}: its ${problem}`];
  throw new IncompleteFileError(
    path,
    { missing: [], misfits },
    'one embedding for all noisy tokens of a step can be used',
  );
}

function isEqual(a: Float32Array, b: Float32Array): boolean {
  const bytes = ({ buffer, byteOffset, byteLength }: Float32Array) => Buffer.from(buffer, byteOffset, byteLength);
  return bytes(a).equals(bytes(b));
}
