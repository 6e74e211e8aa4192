// What of a job can be looked at.
import { hintParams, type Job } from '../../../src/protocol/index.js';
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

/** What is shown beside a result: an input, or a control map that the server made from the input clip. */
export interface SidePart {
  /** `image`, `video`, or the name of a control hint. */
  readonly role: string;
  readonly kind: 'picture' | 'clip';
  readonly url: string;
  /** Of an input; null for a map that was made, which runs like the result. */
  readonly fileId: string | null;
}

const controlPrefix = 'control_';

/** The hint whose map a file of a job is; null for other files. */
export function hintOf({ variant }: Pick<Artifact, 'variant'>): string | null {
  return variant.startsWith(controlPrefix) ? variant.slice(controlPrefix.length) : null;
}

/** What can be seen beside the result: the picture or clip first, then the control maps in the order of the networks. */
export function sideParts({ inputs, artifacts }: Pick<Job, 'inputs' | 'artifacts'>): readonly SidePart[] {
  const given = inputs
    .filter(({ media_type }) => /^(image|video)\//.test(media_type))
    .map(({ role, url, media_type, file_id }) => ({ role, kind: kindOf(media_type), url, fileId: file_id }));
  const made = artifacts.flatMap((artifact) => {
    const role = hintOf(artifact);
    return role === null ? [] : [{ role, kind: kindOf(artifact.media_type), url: artifact.url, fileId: null }];
  });
  const hints = Object.keys(hintParams);
  return [...given, ...made].toSorted((a, b) => hints.indexOf(a.role) - hints.indexOf(b.role));
}

function kindOf(mediaType: string): 'picture' | 'clip' {
  return mediaType.startsWith('image/') ? 'picture' : 'clip';
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
