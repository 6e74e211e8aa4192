// Small pictures of a result on its way: of the denoised estimate by a linear map, at the end of the decoded frames themselves.
import { disposeTensors } from '../../backend/index.js';
import { type RgbImage, resizeBilinear } from '../../media/index.js';
import type { Chunk } from '../conditioning/chunks.js';
import { downloadFloats } from '../conditioning/vision-source.js';
import type { DenoiseStep } from '../denoise/denoise.js';
import type { Target } from '../denoise/targets.js';
import type { Networks } from '../networks.js';
import { fitCheckpoint } from './fit-checkpoint.js';
import { type Projection, project } from './projection.js';

/** Longest side of a picture, by a linear map and decoded: the former have no detail to show. */
const sides = { projected: 160, decoded: 320 } as const;

/** Share of the time that previews may take. */
const share = 0.04;

/** A small picture. `final`: decoded like the result; no further one comes. */
export interface Preview {
  readonly type: 'preview';
  /** Finished steps of the chunk. */
  readonly step: number;
  readonly steps: number;
  /** Which frame of the result it shows. */
  readonly frame: number;
  readonly image: RgbImage;
  readonly final: boolean;
}

/** What previews are like. */
export interface PreviewOptions {
  /** At least this many steps lie between two of them. */
  readonly everySteps: number;
  /** Milliseconds. */
  readonly now?: (() => number) | undefined;
}

/** Makes previews with the networks of one checkpoint. */
export class Previewer {
  readonly everySteps: number;
  readonly now: () => number;
  /** Milliseconds that the latest preview took. */
  cost = 5;

  constructor(
    readonly networks: Networks,
    readonly projection: Projection,
    { everySteps, now = () => performance.now() }: PreviewOptions,
  ) {
    this.everySteps = everySteps;
    this.now = now;
  }

  /** Fits the projection: one small picture through the autoencoder. */
  static async open(networks: Networks, options: PreviewOptions): Promise<Previewer> {
    return new Previewer(networks, await fitCheckpoint(networks), options);
  }
}

/** What a run's previews are of. */
export interface PreviewedChunk {
  readonly chunk: Chunk;
  /** Number of chunks. */
  readonly chunks: number;
  readonly steps: number;
  /** Of the frames. */
  readonly target: Target;
}

/** The previews of one run of the denoise loop and its decoding. They show the frame in its middle. */
export class ChunkPreviews {
  readonly #previewer: Previewer;
  readonly #of: PreviewedChunk;
  /** Within the chunk. */
  readonly #frame: number;
  readonly #latentFrame: number;
  #madeAt: number;
  #madeStep = 0;

  constructor(previewer: Previewer, of: PreviewedChunk) {
    this.#previewer = previewer;
    this.#of = of;
    const { overlap, adds } = of.chunk;
    const { temporalFactor } = previewer.networks.vae.config;
    this.#frame = overlap + Math.floor(adds / 2);
    this.#latentFrame = Math.ceil(this.#frame / temporalFactor);
    this.#madeAt = previewer.now();
  }

  /** The estimate after a step, where enough time has passed since the last one; none after the last step, which decoding follows. */
  async ofStep(done: DenoiseStep): Promise<Preview | null> {
    const { everySteps, now, cost } = this.#previewer;
    const step = done.step + 1;
    const start = now();
    const isDue = step - this.#madeStep >= everySteps && (start - this.#madeAt) * share >= cost;
    if (!isDue || step === this.#of.steps) return null;
    const image = await this.#project(done);
    this.#previewer.cost = now() - start;
    this.#madeAt = now();
    this.#madeStep = step;
    return this.#preview(step, image, false);
  }

  /** The decoded frame, where a window of the chunk holds it: `first` counts within the chunk. */
  ofFrames(
    first: number,
    { count, width, height, data }: { readonly count: number; readonly data: Uint8Array } & RgbSize,
  ): Preview | null {
    const place = this.#frame - first;
    if (place < 0 || place >= count) return null;
    const bytes = width * height * 3;
    const image = { width, height, data: data.subarray(place * bytes, (place + 1) * bytes) };
    const { chunk, chunks, steps } = this.#of;
    return this.#preview(steps, shrink(image, sides.decoded), chunk.index + 1 === chunks);
  }

  async #project({ estimates, samples }: DenoiseStep): Promise<RgbImage> {
    const { networks, projection } = this.#previewer;
    const { backend: b, vae } = networks;
    const isGiven = this.#of.target.cleanFrames.includes(this.#latentFrame);
    const source = (isGiven ? samples : estimates)[0];
    if (source === undefined) throw new Error('a run without frames has nothing to preview');
    const slice = b.scope(() => b.slice(source, 0, this.#latentFrame, this.#latentFrame + 1)); // [1, h, w, C]
    try {
      const { shape, data } = await downloadFloats(b, slice);
      const [, height = 0, width = 0] = shape;
      const image = { width, height, data: project(projection, data) };
      const scale = Math.min(vae.config.spatialFactor, sides.projected / Math.max(width, height));
      return resizeBilinear(image, Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale)));
    } finally {
      disposeTensors(slice);
    }
  }

  #preview(step: number, image: RgbImage, final: boolean): Preview {
    const { chunk, steps } = this.#of;
    return { type: 'preview', step, steps, frame: chunk.start + this.#frame, image, final };
  }
}

interface RgbSize {
  readonly width: number;
  readonly height: number;
}

function shrink(image: RgbImage, longest: number): RgbImage {
  const scale = Math.min(1, longest / Math.max(image.width, image.height));
  if (scale === 1) return { ...image, data: image.data.slice() };
  return resizeBilinear(
    image,
    Math.max(1, Math.round(image.width * scale)),
    Math.max(1, Math.round(image.height * scale)),
  );
}
