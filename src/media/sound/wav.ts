// WAV files in and out.
import { MediaError } from '../media-error.js';
import type { Waveform } from '../types.js';
import { chunkBytes, chunkList, riffChunks, riffFile } from './riff.js';

export type WavFormat = 'pcm16' | 'float32';

export interface EncodeWavOptions {
  /** 16-bit integers (default) or 32-bit floats. */
  readonly format?: WavFormat;
  /** Text carried along as the INFO comment, read back by `readArtifactMetadata`. */
  readonly metadata?: string;
}

/** A WAV file; 16-bit samples are clamped and rounded half away from zero at 32767 per unit. */
export function encodeWav(sound: Waveform, options: EncodeWavOptions = {}): Uint8Array {
  const { format = 'pcm16', metadata } = options;
  const channels = sound.channels.length;
  const length = sound.channels[0]?.length ?? 0;
  if (channels === 0 || sound.channels.some((channel) => channel.length !== length)) {
    throw new MediaError('invalid_argument', 'A WAV file needs at least one channel, and all of the same length.');
  }
  const size = format === 'pcm16' ? 2 : 4;
  const header = Buffer.alloc(16);
  header.writeUInt16LE(format === 'pcm16' ? 1 : 3, 0);
  header.writeUInt16LE(channels, 2);
  header.writeUInt32LE(sound.sampleRate, 4);
  header.writeUInt32LE(sound.sampleRate * channels * size, 8);
  header.writeUInt16LE(channels * size, 12);
  header.writeUInt16LE(8 * size, 14);
  const data = Buffer.alloc(length * channels * size);
  sound.channels.forEach((samples, channel) => {
    for (let i = 0; i < length; i++) {
      const at = (i * channels + channel) * size;
      const value = samples[i] as number;
      if (format === 'pcm16') data.writeInt16LE(toInt16(value), at);
      else data.writeFloatLE(value, at);
    }
  });
  const info = metadata === undefined ? [] : [commentChunk(metadata)];
  return riffFile('WAVE', [chunkBytes('fmt ', header), ...info, chunkBytes('data', data)]);
}

/**
 * Decodes WAV with 8, 16, 24 or 32-bit integers or 32 or 64-bit floats; `name` is for messages.
 * Throws MediaError `unsupported_type`, `unreadable` or `truncated`.
 */
export function decodeWav(bytes: Uint8Array, name = 'The sound'): Waveform {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WAVE') {
    throw new MediaError('unsupported_type', `${name} is not a WAV file. Convert it.`);
  }
  const chunks = riffChunks(file);
  const header = chunks.find(({ id }) => id === 'fmt ')?.data;
  const data = chunks.find(({ id }) => id === 'data');
  if (!header || header.length < 16 || !data) {
    throw new MediaError('unreadable', `${name} is a WAV file without a format or data chunk. Send another copy.`);
  }
  if (data.declared > data.data.length) {
    throw new MediaError(
      'truncated',
      `${name} is cut short: ${data.data.length} of ${data.declared} bytes of sound. Send the whole file.`,
    );
  }
  const plain = header.readUInt16LE(0);
  // 0xfffe: the true format stands at the start of the sub-format field.
  const format = plain === 0xfffe && header.length >= 26 ? header.readUInt16LE(24) : plain;
  const bits = header.readUInt16LE(14);
  const read = sampleReader(data.data, format, bits);
  const channels = header.readUInt16LE(2);
  if (!read || channels === 0) {
    throw new MediaError('unsupported_type', `${name} is WAV of format ${format} with ${bits} bits; use PCM or float.`);
  }
  const length = Math.floor(data.data.length / (channels * (bits / 8)));
  return {
    sampleRate: header.readUInt32LE(4),
    channels: Array.from({ length: channels }, (_, channel) =>
      Float32Array.from({ length }, (_, i) => read((i * channels + channel) * (bits / 8))),
    ),
  };
}

/** The INFO comment of a WAV file, or null. */
export function wavComment(bytes: Uint8Array): string | null {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  for (const { id, data } of riffChunks(file)) {
    if (id !== 'LIST' || data.toString('latin1', 0, 4) !== 'INFO') continue;
    const comment = chunkList(data.subarray(4)).find((entry) => entry.id === 'ICMT');
    if (comment) return comment.data.toString('utf8').replace(/\0+$/, '');
  }
  return null;
}

function commentChunk(text: string): Buffer {
  const comment = chunkBytes('ICMT', Buffer.from(`${text}\0`, 'utf8'));
  return chunkBytes('LIST', Buffer.concat([Buffer.from('INFO', 'latin1'), comment]));
}

function toInt16(value: number): number {
  const scaled = Math.min(1, Math.max(-1, value)) * 32767;
  return scaled < 0 ? -Math.round(-scaled) : Math.round(scaled);
}

function sampleReader(data: Buffer, format: number, bits: number): ((at: number) => number) | null {
  switch (`${format}/${bits}`) {
    case '1/8':
      return (at) => ((data[at] as number) - 128) / 128;
    case '1/16':
      return (at) => data.readInt16LE(at) / 32768;
    case '1/24':
      return (at) => data.readIntLE(at, 3) / 2 ** 23;
    case '1/32':
      return (at) => data.readInt32LE(at) / 2 ** 31;
    case '3/32':
      return (at) => data.readFloatLE(at);
    case '3/64':
      return (at) => data.readDoubleLE(at);
    default:
      return null;
  }
}
