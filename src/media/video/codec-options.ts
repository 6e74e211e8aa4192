// Which options of the H.264 encoder a caller may set, and what they may say.
import { MediaError } from '../media-error.js';

/** Encoder options by ffmpeg's names; numbers are written as decimals. */
export type VideoCodecOptions = Readonly<Record<string, string | number>>;

const presets = ['ultrafast', 'superfast', 'veryfast', 'faster', 'fast', 'medium', 'slow', 'slower', 'veryslow'];
const tunes = ['film', 'animation', 'grain', 'stillimage', 'fastdecode', 'zerolatency', 'psnr', 'ssim'];

const isOneOf = (names: readonly string[]) => (value: string) => names.includes(value);
const isNumber = (low: number, high: number) => (value: string) =>
  /^\d+(\.\d+)?$/.test(value) && Number(value) >= low && Number(value) <= high;

const accepted: Readonly<Record<string, (value: string) => boolean>> = {
  preset: isOneOf(presets),
  tune: isOneOf(tunes),
  crf: isNumber(0, 51),
  threads: isNumber(0, 128),
  g: isNumber(0, 10000),
  bf: isNumber(0, 16),
  profile: isOneOf(['baseline', 'main', 'high']),
  level: (value) => /^[1-6](\.[0-3])?$/.test(value),
  maxrate: (value) => /^\d+[kKM]?$/.test(value),
  bufsize: (value) => /^\d+[kKM]?$/.test(value),
};

/** Names `codecOptions` may use. */
export const codecOptionNames: readonly string[] = Object.keys(accepted);

/**
 * Encoder arguments for ffmpeg: crf 18, preset veryfast, one thread unless told otherwise.
 * Throws MediaError `invalid_argument` for an unknown name or a value outside its range.
 */
export function codecArguments(options: {
  readonly crf?: number | undefined;
  readonly preset?: string | undefined;
  readonly threads?: number | undefined;
  readonly codecOptions?: VideoCodecOptions | undefined;
}): string[] {
  const { crf = 18, preset = 'veryfast', threads = 1, codecOptions = {} } = options;
  const merged = Object.entries({ preset, crf, threads, ...codecOptions });
  return merged.flatMap(([name, value]) => {
    const text = String(value);
    const accepts = Object.hasOwn(accepted, name) ? accepted[name] : undefined;
    if (!accepts) {
      const names = codecOptionNames.join(', ');
      throw new MediaError('invalid_argument', `Unknown video codec option "${name}". Supported: ${names}.`);
    }
    if (!accepts(text)) throw new MediaError('invalid_argument', `Video codec option ${name} cannot be "${text}".`);
    return [name === 'profile' || name === 'threads' ? `-${name}:v` : `-${name}`, text];
  });
}
