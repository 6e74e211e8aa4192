// What a scene sounds like: ticks over a hum, 48 kHz stereo.
import type { Waveform } from '../../../src/media/index.js';
import { framesPerSecond } from './scene.js';
import type { ToyScene } from './toys.js';

const rate = 48_000;
/** Seconds in which a tick falls to 1/e. */
const decay = 0.035;

/** The sound of a scene; its hum, of two harmonics, stands in the middle. */
export function soundOf({ frames, ticks, speed }: ToyScene): Waveform {
  const length = Math.round((frames / framesPerSecond) * rate);
  const channels = [new Float32Array(length), new Float32Array(length)] as const;
  const hum = speed === 'quickly' ? { hertz: 200, amplitude: 0.22 } : { hertz: 100, amplitude: 0.12 };
  for (let i = 0; i < length; i++) {
    const phase = 2 * Math.PI * hum.hertz * (i / rate);
    const value = Math.SQRT1_2 * hum.amplitude * (Math.sin(phase) + 0.4 * Math.sin(2 * phase));
    channels[0][i] = channels[1][i] = value;
  }
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
