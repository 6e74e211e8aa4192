// What of a job can be looked at.
import type { Job } from '../../../src/protocol/index.js';
import type { Clip } from './player/frame-maths.js';

type Artifact = Job['artifacts'][number];

/** The picture or clip that a job has made. */
export interface Media {
  readonly kind: 'picture' | 'clip';
  readonly url: string;
  readonly width: number;
  readonly height: number;
  /** A picture is a clip of one frame. */
  readonly clip: Clip;
  readonly hasSound: boolean;
}

const usualFps = 24;

/** What a job has to show; null where it made neither a picture nor a clip. */
export function mediaOf(job: Job): Media | null {
  const artifact = mainArtifact(job.artifacts);
  if (artifact === null || artifact.variant === 'action') return null;
  const isPicture = artifact.variant === 'image' || artifact.media_type.startsWith('image/');
  const frames = isPicture ? 1 : Math.max(1, job.num_frames ?? 1);
  return {
    kind: isPicture ? 'picture' : 'clip',
    url: artifact.url,
    width: job.width ?? 16,
    height: job.height ?? 9,
    clip: { frames, fps: job.fps !== null && job.fps > 0 ? job.fps : usualFps },
    hasSound: !isPicture && job.has_sound,
  };
}

/** The artifact that is the result; its actions where there is no picture and no clip. */
export function mainArtifact(artifacts: readonly Artifact[]): Artifact | null {
  const order = ['video', 'image', 'action'] as const;
  return (
    order.map((variant) => artifacts.find((artifact) => artifact.variant === variant)).find((found) => found) ?? null
  );
}

/** Inputs that can be seen, the picture or clip first, then control maps. */
export function visibleInputs({ inputs }: Pick<Job, 'inputs'>): Job['inputs'] {
  const isMain = (role: string) => role === 'image' || role === 'video';
  return inputs
    .filter(({ media_type }) => /^(image|video)\//.test(media_type))
    .toSorted((a, b) => Number(isMain(b.role)) - Number(isMain(a.role)));
}

/** Frames of each input by its file id, as the job's plan has them. */
export function inputFrames(plan: Readonly<Record<string, unknown>> | null): ReadonlyMap<string, number> {
  const inputs = plan?.inputs;
  if (!Array.isArray(inputs)) return new Map();
  return new Map(
    inputs.flatMap((input: unknown) => {
      const { sha256, frames } = typeof input === 'object' && input !== null ? { sha256: '', frames: 0, ...input } : {};
      return typeof sha256 === 'string' && typeof frames === 'number' && frames > 0
        ? [[`file-${sha256}`, frames] as const]
        : [];
    }),
  );
}
