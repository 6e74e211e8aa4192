// Clips of the control maps that a run makes from its input, written while the run goes on: their frames are there before it denoises.
import type { EncodeVideoOptions } from '../../media/index.js';
import type { Plan } from '../../pipeline/plan-types.js';
import { type ComputedKind, isComputedKind } from '../../pipeline/request.js';
import { blameTarget } from './blame-target.js';
import { ClipEncoder } from './clip-encoder.js';
import { StagedFiles } from './staged-files.js';

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
  readonly temporary: string;
  readonly encoder: ClipEncoder;
}

/** The clips of one run. They appear at `commit`; disposing of it before leaves none of them. */
export class ControlFiles implements AsyncDisposable {
  readonly #clips = new Map<ComputedKind, OpenClip>();
  readonly #staged = new StagedFiles();
  readonly #plan: Plan;
  readonly #paths: ControlPaths;
  readonly #options: ControlOptions;

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
  async add({ kind, data, count, width, height }: ControlFrames): Promise<void> {
    const path = this.#paths[kind];
    if (path === undefined) return;
    const { encoder } = this.#clips.get(kind) ?? (await this.#open(kind, path, { width, height }));
    // Not waited for: the run goes on while the encoder takes them, and whoever finishes hears of a failure.
    encoder.add(data, count).catch(() => undefined);
  }

  /** Waits until all clips are whole. @throws MediaError when one cannot be written */
  async finish(): Promise<void> {
    const clips = [...this.#clips.values()];
    await Promise.all(clips.map((clip) => blameTarget(clip, () => clip.encoder.finish())));
  }

  /** Moves all clips to their places. @throws MediaError when one cannot be moved */
  commit(): Promise<void> {
    return this.#staged.commit();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { encoder } of this.#clips.values()) await encoder[Symbol.asyncDispose]();
    await this.#staged[Symbol.asyncDispose]();
  }

  async #open(
    kind: ComputedKind,
    path: string,
    size: { readonly width: number; readonly height: number },
  ): Promise<OpenClip> {
    const temporary = await this.#staged.stage(path);
    const preset = this.#plan.transfer?.hints.find((hint) => hint.kind === kind)?.preset ?? null;
    const metadata = JSON.stringify({ control: kind, preset });
    const encoder = new ClipEncoder({ path: temporary, ...size, ...this.#options, fps: this.#plan.fps, metadata });
    const clip = { path, temporary, encoder };
    this.#clips.set(kind, clip);
    return clip;
  }
}
