// The denoise policy: conditioned by a reference dump, from its noise to a clip's latent. Source: performance spec, A.
import { setImmediate } from 'node:timers/promises';
import type { Backend } from '../../backend/index.js';
import type { Quantization, Transformer } from '../../models/cosmos3-transformer/index.js';
import { downloadFloats } from '../../pipeline/conditioning/vision-source.js';
import { makeSchedule } from '../../pipeline/denoise/schedule.js';
import { skipTable } from '../../pipeline/denoise/skip.js';
import { channelsFirst } from '../../pipeline/denoise/targets.js';
import { RequestError } from '../../protocol/index.js';
import type { OpenedDevice } from '../loader.js';
import { TurnQueue } from '../run/turn-queue.js';
import { compareLatents, type LatentComparison } from './compare-latents.js';
import type { TransformerFile } from './files/open-transformer.js';
import { type LatentShape, openReferenceDump } from './files/reference-dump.js';
import type { TransformerShape } from './files/transformer-shape.js';
import { readNetwork } from './network.js';
import { type Prompt, readPrompt } from './prompt.js';
import { refuseUnknown } from './refuse-unknown.js';
import { judgeShift } from './shift-check.js';
import { describeIgnored, readSkipList } from './skip-list.js';

/** What linear layers compute in. */
export type Quant = 'fp8' | 'bf16' | 'f32';

export interface SetPromptOptions {
  /** The reference dump, a .safetensors file. */
  readonly ref: string;
  readonly signal?: AbortSignal | undefined;
}

export interface InferOptions {
  /** Steps that reuse the velocity of the last computed one, as `'3,5,7'` or `[3, 5, 7]`; none where absent. */
  readonly teacacheSkip?: string | readonly number[] | undefined;
  /** `hold` (where absent) repeats the last velocity, `extrapolate` continues the last two over sigma. */
  readonly teacacheMode?: 'hold' | 'extrapolate' | undefined;
  /** Flow shift, above 0; 10 where absent. */
  readonly shift?: number | undefined;
  /** Also gives `cos` and `relL2` against the dump's final latent; needs `returnMetadata`. */
  readonly compareRef?: boolean | undefined;
  readonly returnMetadata?: boolean | undefined;
  /** Stops between steps by throwing the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  readonly onStep?: ((done: { readonly step: number; readonly steps: number }) => void) | undefined;
}

/** A denoised clip, float32, `[1, C, T, H, W]`. */
export interface VideoLatent {
  readonly shape: LatentShape;
  readonly data: Float32Array;
}

/** A run and what is known of it. */
export interface InferResult {
  readonly latent: VideoLatent;
  /** Wall time of the denoise loop; no file is read in it. */
  readonly latencyMs: number;
  readonly quant: Quant;
  /** Steps that were skipped, sorted. */
  readonly skipped: readonly number[];
  readonly warnings: readonly string[];
}

/** Time of the last run's loop; null before the first. */
export interface LatencyStats {
  readonly denoiseLoopMs: number | null;
}

/** What a model is made of. */
export interface VideoParts {
  readonly file: TransformerFile;
  readonly shape: TransformerShape;
  /** `cpu` or the GPU's architecture. */
  readonly hardware: string;
  readonly quant: Quant;
  readonly quantization: Quantization | null;
  readonly openDevice: () => Promise<OpenedDevice>;
  readonly onWarning: (message: string) => void;
}

export const defaultShift = 10;

/** A loaded transformer. The device is opened, and weights are read, by the first `setPrompt` whose dump fits. */
export class Cosmos3Video implements AsyncDisposable {
  readonly #parts: VideoParts;
  readonly #turns = new TurnQueue();
  #opened: { readonly backend: Backend; readonly transformer: Transformer } | undefined;
  #prompt: Prompt | undefined;
  #latency: number | null = null;

  constructor(parts: VideoParts) {
    this.#parts = parts;
  }

  /** What it runs on: `cpu`, or a GPU's architecture such as `sm90`. */
  get hardware(): string {
    return this.#parts.hardware;
  }

  get quant(): Quant {
    return this.#parts.quant;
  }

  /**
   * Takes a dump as the conditioning of all runs until the next one.
   * @throws RequestError without `ref`; CheckpointError or IncompleteFileError for the dump, before the device is touched;
   *   errors of opening the device and reading weights the first time
   */
  async setPrompt(options: SetPromptOptions): Promise<void> {
    refuseUnknown('setPrompt', options, ['ref', 'signal']);
    const { ref, signal } = options ?? {};
    if (typeof ref !== 'string' || ref === '')
      throw new RequestError(
        'missing_parameter',
        'ref',
        "Cosmos3-video needs the official reference dump: setPrompt({ ref: '.../tensors.safetensors' }); orrery dump writes one.",
      );
    using _turn = await this.#turns.take(signal);
    const { shape } = this.#parts;
    using dump = openReferenceDump(ref, shape);
    const layout = { patch: dump.patch, latentChannels: dump.latentShape[1] };
    const { backend, transformer } = await this.#open(layout);
    signal?.throwIfAborted();
    const config = { ...transformer.config, ...layout };
    const prompt = await readPrompt(backend, { ...transformer, config }, dump, shape.hasTimeEmbedder);
    this.#prompt?.[Symbol.dispose]();
    this.#prompt = prompt;
  }

  /**
   * Denoises the dump's noise. Equal calls give equal bits.
   * @returns the latent, or with `returnMetadata` the latent and what is known of the run
   * @throws RequestError before `setPrompt`, for `compareRef` without `returnMetadata`, and for values out of range
   */
  infer(
    options: InferOptions & { readonly returnMetadata: true; readonly compareRef: true },
  ): Promise<InferResult & LatentComparison>;
  infer(options: InferOptions & { readonly returnMetadata: true }): Promise<InferResult & Partial<LatentComparison>>;
  infer(options?: InferOptions & { readonly returnMetadata?: false | undefined }): Promise<VideoLatent>;
  async infer(options: InferOptions = {}): Promise<VideoLatent | (InferResult & Partial<LatentComparison>)> {
    const { compareRef, returnMetadata, signal } = checkInfer(options);
    using _turn = await this.#turns.take(signal);
    if (this.#prompt === undefined || this.#opened === undefined)
      throw new RequestError('conflict', 'ref', 'setPrompt({ ref }) must be called before infer()');
    const result = await this.#run(this.#opened.backend, this.#prompt, options);
    if (returnMetadata !== true) return result.latent;
    return compareRef === true ? { ...result, ...compareLatents(result.latent.data, this.#prompt.reference) } : result;
  }

  getLatencyStats(): LatencyStats {
    return { denoiseLoopMs: this.#latency };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#turns.idle();
    this.#prompt?.[Symbol.dispose]();
    this.#prompt = undefined;
    await this.#opened?.backend[Symbol.asyncDispose]();
    this.#opened = undefined;
    this.#parts.file[Symbol.dispose]();
  }

  async #run(b: Backend, prompt: Prompt, options: InferOptions): Promise<InferResult> {
    const { teacacheSkip = '', teacacheMode = 'hold', shift = defaultShift, signal, onStep } = options;
    const { steps, loop, latentShape } = prompt;
    const list = readSkipList(teacacheSkip, steps);
    const warnings = [...warnOfList(list), ...[judgeShift(shift, prompt) ?? []].flat()];
    for (const warning of warnings) this.#parts.onWarning(warning);
    const schedule = makeSchedule({
      steps,
      schedule: { solver: 'unipc', grid: 'native', flowShift: shift, order: 2, variant: 'bh2', karras: null },
    });
    const skip = skipTable({ steps: list.steps, mode: teacacheMode }, schedule.sigmas, steps);
    loop.prepare(schedule, skip);
    await b.synchronize();
    signal?.throwIfAborted();
    const start = performance.now();
    let end = start;
    for await (const { step } of loop.run(skip)) {
      end = performance.now();
      onStep?.({ step: step + 1, steps });
      // Steps do not return to the event loop by themselves; signals need it.
      await setImmediate();
      signal?.throwIfAborted();
    }
    this.#latency = end - start;
    const { data } = await downloadFloats(b, loop.sample); // [T, H, W, C]
    const latent = { shape: latentShape, data: channelsFirst(data, latentShape[1]) };
    return { latent, latencyMs: end - start, quant: this.quant, skipped: list.steps, warnings };
  }

  async #open(layout: { readonly patch: number; readonly latentChannels: number }) {
    if (this.#opened !== undefined) return this.#opened;
    const { file, shape, quantization, openDevice } = this.#parts;
    const { backend } = await openDevice();
    try {
      const transformer = readNetwork(backend, file, shape, { layout, quantization });
      this.#opened = { backend, transformer };
      return this.#opened;
    } catch (error) {
      await backend[Symbol.asyncDispose]();
      throw error;
    }
  }
}

function checkInfer(options: InferOptions): InferOptions {
  const known = ['teacacheSkip', 'teacacheMode', 'shift', 'compareRef', 'returnMetadata', 'signal', 'onStep'];
  refuseUnknown('infer', options, known);
  const { shift = defaultShift, compareRef, returnMetadata, teacacheMode } = options;
  if (!(typeof shift === 'number' && shift > 0 && shift <= 1000))
    throw new RequestError('invalid_value', 'shift', `shift is ${shift}; it must be a number above 0, at most 1000`);
  if (teacacheMode !== undefined && teacacheMode !== 'hold' && teacacheMode !== 'extrapolate')
    throw new RequestError(
      'invalid_value',
      'teacache_mode',
      `teacacheMode is ${teacacheMode}; there are hold and extrapolate`,
    );
  if (compareRef === true && returnMetadata !== true)
    throw new RequestError(
      'conflict',
      'compare_ref',
      'compareRef gives cos and relL2, which only metadata can hold: set returnMetadata too',
    );
  return options;
}

function warnOfList({ ignored }: ReturnType<typeof readSkipList>): string[] {
  if (ignored.length === 0) return [];
  return [`the skip list has entries that do nothing: ${describeIgnored(ignored)}`];
}
