// What a scene sounds like without its hum: ticks, 48 kHz stereo.
import type { Waveform } from '../../../src/media/index.js';
import { framesPerSecond, type Scene } from './scene.js';

const rate = 48_000;
/** Seconds in which a tick falls to 1/e. */
const decay = 0.035;

export function soundOf({ frames, ticks }: Scene): Waveform {
  const length = Math.round((frames / framesPerSecond) * rate);
  const channels = [new Float32Array(length), new Float32Array(length)] as const;
  for (const { second, hertz, pan } of ticks) {
    for (let i = Math.ceil(second * rate); i < length; i++) {
      const age = i / rate - second;
      const value =
        0.8 * Math.exp(-age / decay) * Math.min(age / 0.002, 1) * Math.sin(2 * Math.PI * hertz * (i / rate));
      channels[0][i] = (channels[0][i] as number) + value * Math.cos((pan * Math.PI) / 2);
      channels[1][i] = (channels[1][i] as number) + value * Math.sin((pan * Math.PI) / 2);
    }
  }
  return { sampleRate: rate, channels };
}
