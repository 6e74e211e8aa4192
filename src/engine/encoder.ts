// The ffmpeg of this process.
import { type Ffmpeg, findFfmpeg } from '../media/index.js';
import type { EngineConfig } from './config.js';

/**
 * Finds the ffmpeg that the settings name, else the system's, else the bundled one.
 * @throws MediaError `ffmpeg_missing` with the command that installs one
 */
export function findEncoder(config: Pick<EngineConfig, 'ffmpeg'>): Promise<Ffmpeg> {
  return findFfmpeg({ path: config.ffmpeg });
}
