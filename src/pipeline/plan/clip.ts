// Length, speed, conditioning and sound of an ordinary picture or clip. Source: api spec, 2.4, 3.1, 3.3.

import { conditionFrames } from '../defaults.js';
import type { CheckpointFacts, TaskDefaults } from '../facts.js';
import type { PlannedCondition, PlannedSound } from '../plan-types.js';
import { roundHalfEven } from '../prompts/python-text.js';
import type { GenerationRequest, Task } from '../request.js';
import { finiteNumber, refuse, type Warn, wholeNumber } from './ranges.js';

/** Most frames of a clip. */
export const frameLimit = 5001;
const fpsLimit = 1000;
const secondsLimit = 5000;

/** Frames per second of a request. @throws RequestError out of 1 … 1000 */
export function planFps(fps: number): number {
  return finiteNumber('fps', fps, 1, fpsLimit);
}

/** Frames a request states: num_frames, else seconds x fps; undefined for neither. @throws RequestError out of range */
export function givenFrames({ frames, seconds }: GenerationRequest, fps: number): number | undefined {
  if (frames !== undefined) return wholeNumber('num_frames', frames, 1, frameLimit);
  if (seconds === undefined) return undefined;
  finiteNumber('seconds', seconds, 0, secondsLimit);
  const count = Math.max(1, roundHalfEven(seconds * fps));
  if (count <= frameLimit) return count;
  return refuse(
    'invalid_value',
    'seconds',
    `seconds ${seconds} at ${fps} fps make ${count} frames; at most ${frameLimit} can be made: ask for at most ${Math.floor(frameLimit / fps)} seconds`,
  );
}

/** Up to the next length the video autoencoder makes: 1, 5, 9, … for a factor of 4. */
export function wholeFrames(frames: number, factor: number): number {
  return Math.ceil((frames - 1) / factor) * factor + 1;
}

/** Frames of an ordinary clip, rounded up to 4k+1; 1 for a picture. @throws RequestError out of range */
export function planFrames(
  request: GenerationRequest,
  {
    task,
    fps,
    defaults,
    factor,
  }: { readonly task: Task; readonly fps: number; readonly defaults: TaskDefaults; readonly factor: number },
  warn: Warn,
): number {
  const given = givenFrames(request, fps);
  if (task === 'text-to-image') {
    if (given !== undefined && given !== 1)
      warn('num_frames', `num_frames ${given} is ignored: a picture has one frame`);
    return 1;
  }
  const frames = wholeFrames(given ?? defaults.frames, factor);
  if (given !== undefined && frames !== given)
    warn('num_frames', `num_frames ${given} was rounded up to ${frames}: clips are made in lengths of ${factor}k+1`);
  return frames;
}

/** Which latent frames an image or a clip fixes; null for text alone. @throws RequestError for impossible latent indexes */
export function planCondition(
  request: GenerationRequest,
  task: Task,
  frames: number,
  factor: number,
): PlannedCondition | null {
  if (task === 'image-to-video')
    return { source: 'image', latentFrames: [0], pixelFrames: 1, keep: 'first', fit: 'cover' };
  if (task !== 'video-to-video') return null;
  const latentFrames = [...new Set(request.conditionFrames ?? conditionFrames)].sort((a, b) => a - b);
  const count = (frames - 1) / factor + 1;
  checkIndexes(latentFrames, count, factor);
  const keep: string = request.conditionKeep ?? 'first';
  if (keep !== 'first' && keep !== 'last')
    return refuse(
      'invalid_value',
      'condition_video_keep',
      `Cosmos3 condition_video_keep must be either 'first' or 'last'. Got '${keep}'; give one of them`,
    );
  return { source: 'video', latentFrames, pixelFrames: factor * (latentFrames.at(-1) ?? 0) + 1, keep, fit: 'cover' };
}

function checkIndexes(indexes: readonly number[], count: number, factor: number): void {
  const param = 'condition_frame_indexes_vision';
  const name = `Cosmos3 ${param}`;
  const written = `[${indexes.join(', ')}]`;
  if (indexes.length === 0)
    refuse('invalid_value', param, `${name} must contain at least one index. Give e.g. [0, 1], or leave it out`);
  if (indexes.some((index) => index < 0))
    refuse('invalid_value', param, `${name} must be non-negative, got ${written}. Give indexes from 0 to ${count - 1}`);
  const whole = indexes.every((index) => Number.isSafeInteger(index));
  if (!whole || indexes.some((index) => index >= count))
    refuse(
      'invalid_value',
      param,
      `${name} contains indexes outside the latent video: indexes=${written}, latent_frames=${count}. Give whole numbers from 0 to ${count - 1}, or ask for more frames (${factor} per latent frame)`,
    );
}

/** Longest sound, in seconds. */
const soundLimit = 5001;

/**
 * Samples and latent frames of the sound of a clip; null when none is wanted. The duration is the clip's where the request
 * states none, at least one frame long: `samples = round(duration * rate)`, `latentFrames = ceil(samples / hop)`.
 * @throws RequestError for a duration out of range
 */
export function planSound(
  request: GenerationRequest,
  { frames, fps }: { readonly frames: number; readonly fps: number },
  { sound }: CheckpointFacts,
  warn: Warn,
): PlannedSound | null {
  const { soundDuration } = request;
  if (!request.sound || !sound) {
    if (soundDuration !== undefined)
      warn('sound_duration', 'sound_duration is ignored: no sound was asked for (generate_sound)');
    return null;
  }
  if (soundDuration !== undefined && !(soundDuration > 0 && soundDuration <= soundLimit))
    refuse(
      'invalid_value',
      'sound_duration',
      `sound_duration is ${soundDuration}; it must be above 0 and at most ${soundLimit} seconds: give one, or leave it out`,
    );
  const shortest = 1 / fps;
  if (soundDuration !== undefined && soundDuration < shortest)
    warn('sound_duration', `sound_duration ${soundDuration} was raised to one frame, ${shortest} seconds`);
  const duration = Math.max(soundDuration ?? frames / fps, shortest);
  const samples = Math.max(1, roundHalfEven(duration * sound.sampleRate));
  return { samples, latentFrames: Math.ceil(samples / sound.hop), trim: !request.reference?.untrimmedSound };
}
