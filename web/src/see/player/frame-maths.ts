// Frames and seconds of a clip, and how a clip's place is written.

/** A clip as a player needs it. A picture is a clip of one frame. */
export interface Clip {
  /** At least 1. */
  readonly frames: number;
  /** Frames per second, above 0. */
  readonly fps: number;
}

/** Players report times a little before the frame they show; a hundredth of a frame covers what they round away. */
const slack = 0.01;

/** Seconds of the whole clip. */
export function durationOf({ frames, fps }: Clip): number {
  return frames / fps;
}

/** The frame shown at a time, 0 … frames - 1. */
export function frameAt(seconds: number, clip: Clip): number {
  return clampFrame(Math.floor(seconds * clip.fps + slack), clip);
}

/** A time at which a player shows the frame: its middle, so that no rounding reaches a neighbour. */
export function timeOf(frame: number, clip: Clip): number {
  return (clampFrame(frame, clip) + 0.5) / clip.fps;
}

/** The nearest frame that exists. */
export function clampFrame(frame: number, { frames }: Clip): number {
  return Math.max(0, Math.min(frames - 1, Math.round(frame)));
}

/** The frame `by` frames further; past an end it comes in at the other one when `loops`, else it stays. */
export function stepFrame(frame: number, by: number, clip: Clip, loops: boolean): number {
  const next = frame + by;
  if (!loops || (next >= 0 && next < clip.frames)) return clampFrame(next, clip);
  return ((next % clip.frames) + clip.frames) % clip.frames;
}

/** Minutes, seconds and hundredths: "0:01.25". */
export function clockOf(seconds: number): string {
  const hundredths = Math.round(Math.max(0, seconds) * 100);
  const minutes = Math.floor(hundredths / 6000);
  const rest = hundredths - minutes * 6000;
  return `${minutes}:${String(Math.floor(rest / 100)).padStart(2, '0')}.${String(rest % 100).padStart(2, '0')}`;
}

/**
 * Where a player that follows another has to jump to, or null where it is near enough.
 * @param leader seconds of the one that leads
 * @param follower seconds of the one that follows
 */
export function correctionOf(leader: number, follower: number, clip: Clip, isPlaying: boolean): number | null {
  const wanted = timeOf(frameAt(leader, clip), clip);
  if (!isPlaying) return frameAt(follower, clip) === frameAt(leader, clip) ? null : wanted;
  // A jump costs a decoder more than it gains for less than a frame and a half.
  const isNear = Math.abs(wanted - follower) <= 1.5 / clip.fps;
  const isOver = leader >= durationOf(clip) && frameAt(follower, clip) === clip.frames - 1;
  return isNear || isOver ? null : wanted;
}

/** The clip whose length is that of all of them together: the longest in seconds. Null without clips. */
export function longestOf(clips: readonly Clip[]): Clip | null {
  return clips.reduce<Clip | null>((best, clip) => (best && durationOf(best) >= durationOf(clip) ? best : clip), null);
}
