// How a clip that is too short for its chunk goes on: forwards, then backwards, then forwards again.

/**
 * Frame index for each of `length` positions of a clip of `frames` frames. Too short a clip is extended round by round:
 * each round appends the sequence so far in reverse, beginning with its last frame itself, at most its length minus one
 * (a single frame is repeated). A longer clip is cut.
 * Throws RangeError unless `frames` >= 1 and `length` >= 0 are integers.
 */
export function mirrorIndexes(frames: number, length: number): number[] {
  if (!Number.isInteger(frames) || frames < 1) throw new RangeError(`a clip of ${frames} frames cannot be extended`);
  if (!Number.isInteger(length) || length < 0) throw new RangeError(`a clip cannot have ${length} frames`);
  const indexes = Array.from({ length: Math.min(frames, length) }, (_, i) => i);
  while (indexes.length < length) {
    const most = Math.max(1, indexes.length - 1);
    indexes.push(...indexes.slice(-Math.min(most, length - indexes.length)).reverse());
  }
  return indexes;
}
