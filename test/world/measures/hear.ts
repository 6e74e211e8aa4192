// Ticks in a sound: when they begin and how high they are.
import type { Waveform } from '../../../src/media/index.js';
import { type Color, colorNames, tickPitch } from '../scenes/scene.js';

/** Strength of one pitch in `count` samples from `begin`: the Goertzel sum of both channels. */
function strength({ channels, sampleRate }: Waveform, begin: number, count: number, hertz: number): number {
  let power = 0;
  for (const channel of channels) {
    let [re, im] = [0, 0];
    for (let i = 0; i < count; i++) {
      const value = channel[begin + i] ?? 0;
      // A Hann window, so that neighbouring pitches and the hum stay apart.
      const window = 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / count);
      const angle = (2 * Math.PI * hertz * i) / sampleRate;
      re += value * window * Math.cos(angle);
      im += value * window * Math.sin(angle);
    }
    power += re * re + im * im;
  }
  return Math.sqrt(power) / count;
}

export interface HeardTick {
  readonly second: number;
  readonly color: Color;
}

/**
 * Ticks of a sound: places where the strength at the ticks' pitches leaps up, at least 150 ms apart.
 * @param least strength relative to a full tick's (about 0.13) that counts
 */
export function hearTicks(sound: Waveform, least = 0.02): readonly HeardTick[] {
  const hop = Math.round(sound.sampleRate / 100);
  const size = 3 * hop;
  const length = sound.channels[0]?.length ?? 0;
  const rows = Array.from({ length: Math.max(0, Math.floor((length - size) / hop)) }, (_, row) =>
    colorNames.map((name) => strength(sound, row * hop, size, tickPitch[name])),
  );
  const loudness = rows.map((row) => Math.max(...row));
  const found: HeardTick[] = [];
  let last = -Infinity;
  for (let row = 0; row < rows.length; row++) {
    const now = loudness[row] as number;
    const before = row >= 3 ? (loudness[row - 3] as number) : 0;
    const isPeak = now >= (loudness[row - 1] ?? 0) && now >= (loudness[row + 1] ?? 0);
    // A tick dies away; the hum, whose second harmonic may be a tick's pitch, stays.
    const fades = now >= 2 * (loudness[row + 12] ?? 0);
    if (!isPeak || !fades || now < least || now < 2 * before || row - last < 15) continue;
    last = row;
    const pitches = rows[row] as readonly number[];
    // The window is centred half its size later, and a tick is strongest just after it began.
    const second = (row * hop + size * 0.3) / sound.sampleRate;
    found.push({ second, color: colorNames[pitches.indexOf(Math.max(...pitches))] as Color });
  }
  return found;
}
