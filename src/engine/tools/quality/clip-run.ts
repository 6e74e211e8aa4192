// One clip with everything that is compared: frames, final latents, and each step's velocity and sample.
import { uploadFloats } from '../../../backend/index.js';
import type { HostLatents } from '../../../pipeline/conditioning/vision-source.js';
import { decodeVision } from '../../../pipeline/decode/decode.js';
import type { Recorder } from '../../../pipeline/denoise/recorder.js';
import { type GenerateOptions, generate } from '../../../pipeline/generate.js';
import type { Networks } from '../../../pipeline/networks.js';
import type { Plan } from '../../../pipeline/plan-types.js';

export interface ClipRun {
  /** RGB bytes `[F, H, W, 3]`; empty where none were decoded. */
  readonly frames: Uint8Array;
  /** After the last step, `[T, H, W, C]`. */
  readonly latents: HostLatents;
  /** By step, `[C, T, H, W]`; null where the step was skipped. */
  readonly velocities: readonly (Float32Array | null)[];
  /** What each step left, `[C, T, H, W]`. */
  readonly samples: readonly Float32Array[];
}

const noInputs = { image: null, video: null, controls: new Map() };

/**
 * Runs a plan of text-to-video from its seed's noise.
 * @param forced what each step goes on with instead of its own sample, so that every velocity is of the same input as the
 *   reference's; such a run decodes nothing
 */
export async function runClip(plan: Plan, networks: Networks, forced?: readonly Float32Array[]): Promise<ClipRun> {
  const recorded = new StepRecorder(forced);
  const options: GenerateOptions = { recorder: recorded, latents: true, skipFrames: forced !== undefined };
  const frames: Uint8Array[] = [];
  let latents: HostLatents | null = null;
  for await (const event of generate(plan, networks, noInputs, options)) {
    if (event.type === 'frames') frames.push(event.data);
    if (event.type === 'latents' && event.modality === 'vision') latents = { shape: event.shape, data: event.data };
  }
  if (latents === null) throw new Error('the run reported no latents');
  const steps = Array.from({ length: plan.steps }, (_, step) => step);
  return {
    frames: joinBytes(frames),
    latents,
    velocities: steps.map((step) => recorded.velocities.get(step) ?? null),
    samples: steps.flatMap((step) => recorded.samples.get(step) ?? []),
  };
}

/** The frames of given latents, RGB bytes `[F, H, W, 3]`. */
export async function decodeClip(networks: Networks, latents: HostLatents): Promise<Uint8Array> {
  const tensor = uploadFloats(networks.backend, latents.data, latents.shape);
  const frames: Uint8Array[] = [];
  try {
    for await (const { data } of decodeVision(networks, tensor)) frames.push(data);
  } finally {
    tensor[Symbol.dispose]();
  }
  return joinBytes(frames);
}

class StepRecorder implements Recorder {
  readonly velocities = new Map<number, Float32Array>();
  readonly samples = new Map<number, Float32Array>();

  constructor(private readonly forced: readonly Float32Array[] | undefined) {}

  record(key: string, _shape: readonly number[], values: Float32Array): void {
    const velocity = /^0\/(\d+)\/cond\/vision\/velocity$/.exec(key);
    if (velocity) this.velocities.set(Number(velocity[1]), values.slice());
    const sample = /^0\/(\d+)\/vision\/latents$/.exec(key);
    if (sample) this.samples.set(Number(sample[1]), values.slice());
  }

  replace(key: string): Float32Array | undefined {
    const sample = /^0\/(\d+)\/vision\/latents$/.exec(key);
    return sample ? this.forced?.[Number(sample[1])] : undefined;
  }
}

function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
