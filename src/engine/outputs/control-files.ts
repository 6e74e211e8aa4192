// Clips of the control maps that a run makes from its input, written while the run goes on: their frames are there before it denoises.
import { rm } from 'node:fs/promises';
import { type EncodeVideoOptions, encodeVideo } from '../../media/index.js';
import type { Plan } from '../../pipeline/plan-types.js';
import { type ComputedKind, isComputedKind } from '../../pipeline/request.js';
import { FrameQueue } from './frame-queue.js';

/** The control maps that a plan makes from its input clip. */
export function computedControls({ transfer }: Plan): readonly ComputedKind[] {
  const computed = transfer?.hints.filter((hint) => hint.computed) ?? [];
  return computed.map(({ kind }) => kind).filter(isComputedKind);
}

/** Where each computed map goes, as MP4. */
export type ControlPaths = Readonly<Partial<Record<ComputedKind, string>>>;

/** Frames of a map, RGB bytes `[count, height, width, 3]`. */
export interface ControlFrames {
  readonly kind: ComputedKind;
  readonly data: Uint8Array;
  readonly count: number;
  readonly width: number;
  readonly height: number;
}

/** How the clips are written: like the result. */
export type ControlOptions = Pick<EncodeVideoOptions, 'ffmpeg' | 'codecOptions' | 'signal'>;

interface OpenClip {
  readonly path: string;
  readonly frames: FrameQueue;
  readonly written: Promise<unknown>;
}

/** The clips of one run. Disposing of it before `finish` removes them. */
export class ControlFiles implements AsyncDisposable {
  readonly #clips = new Map<ComputedKind, OpenClip>();
  readonly #stop = new AbortController();
  readonly #plan: Plan;
  readonly #paths: ControlPaths;
  readonly #options: ControlOptions;
  #isFinished = false;

  /** @param paths maps without one are not written */
  constructor(plan: Plan, paths: ControlPaths, options: ControlOptions) {
    this.#plan = plan;
    this.#paths = paths;
    this.#options = options;
  }

  /** Whether any map is to be written. */
  get isWanted(): boolean {
    return Object.keys(this.#paths).length > 0;
  }

  /** Takes the next frames of a map; they must stay as they are until the run ends. */
  add({ kind, data, count, width, height }: ControlFrames): void {
    const path = this.#paths[kind];
    if (path === undefined) return;
    const clip = this.#clips.get(kind) ?? this.#open(kind, path, { width, height });
    // Not waited for: the run goes on while the encoder takes them.
    void clip.frames.add(data, count);
  }

  /** Waits until all clips are whole. @throws MediaError when one cannot be written */
  async finish(): Promise<void> {
    for (const { frames } of this.#clips.values()) frames.end();
    await Promise.all([...this.#clips.values()].map(({ written }) => written));
    this.#isFinished = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isFinished) return;
    this.#stop.abort();
    for (const { path, frames, written } of this.#clips.values()) {
      frames.end();
      await written.catch(() => undefined);
      await rm(path, { force: true });
    }
  }

  #open(kind: ComputedKind, path: string, size: { readonly width: number; readonly height: number }): OpenClip {
    const frames = new FrameQueue();
    const { signal = null, ...options } = this.#options;
    const preset = this.#plan.transfer?.hints.find((hint) => hint.kind === kind)?.preset ?? null;
    const written = encodeVideo({
      path,
      ...size,
      ...options,
      fps: this.#plan.fps,
      frames: frames.read(),
      metadata: JSON.stringify({ control: kind, preset }),
      signal: signal === null ? this.#stop.signal : AbortSignal.any([signal, this.#stop.signal]),
    });
    // Whoever finishes hears of a failure; until then it is nobody's.
    written.catch(() => undefined);
    const clip = { path, frames, written };
    this.#clips.set(kind, clip);
    return clip;
  }
}
