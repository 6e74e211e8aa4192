import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readArtifactMetadata } from '../artifact-metadata.js';
import { decodeSound } from './decode-sound.js';
import { chunkBytes, riffFile } from './riff.js';
import { decodeWav, encodeWav } from './wav.js';

const stereo = { sampleRate: 48000, channels: [Float32Array.of(0, 0.5, -1, 2), Float32Array.of(-0.5, 0.25, 1, -2)] };

describe('WAV', () => {
  it('keeps floats exactly', () => {
    expect(decodeWav(encodeWav(stereo, { format: 'float32' }))).toEqual(stereo);
  });

  it('rounds to 16 bits and clamps', () => {
    const bytes = Buffer.from(encodeWav(stereo));
    expect(bytes.length).toBe(44 + 16);
    expect(bytes.subarray(0, 44).toString('hex')).toBe(
      '524946463400000057415645666d7420100000000100020080bb000000ee0200040010006461746110000000',
    );
    const samples = Array.from({ length: 8 }, (_, i) => bytes.readInt16LE(44 + 2 * i));
    expect(samples).toEqual([0, -16384, 16384, 8192, -32767, 32767, 32767, -32767]);
    expect(decodeWav(bytes).channels[0]?.[1]).toBe(0.5);
  });

  it('reads 8, 24 and 32-bit integers, 64-bit floats and the extensible header', () => {
    const wav = (format: number, bits: number, data: Buffer, tail: Buffer = Buffer.alloc(0)): Buffer => {
      const header = Buffer.alloc(16);
      header.writeUInt16LE(format, 0);
      header.writeUInt16LE(1, 2);
      header.writeUInt32LE(8000, 4);
      header.writeUInt16LE(bits, 14);
      return riffFile('WAVE', [chunkBytes('fmt ', Buffer.concat([header, tail])), chunkBytes('data', data)]);
    };
    const double = Buffer.alloc(8);
    double.writeDoubleLE(-0.125);
    const first = (bytes: Buffer): number | undefined => decodeWav(bytes).channels[0]?.[0];
    expect(first(wav(1, 8, Buffer.from([192])))).toBe(0.5);
    expect(first(wav(1, 24, Buffer.from([0, 0, 0xc0])))).toBe(-0.5);
    expect(first(wav(1, 32, Buffer.from([0, 0, 0, 0x20])))).toBe(0.25);
    expect(first(wav(3, 64, double))).toBe(-0.125);
    const tail = Buffer.alloc(24);
    tail.writeUInt16LE(1, 8);
    expect(first(wav(0xfffe, 16, Buffer.from([0, 0x40]), tail))).toBe(0.5);
    expect(() => first(wav(7, 8, Buffer.from([1])))).toThrow('format 7 with 8 bits');
  });

  it('refuses what is broken', () => {
    const whole = Buffer.from(encodeWav(stereo));
    expect(() => decodeWav(whole.subarray(0, 50), 'x.wav')).toThrow('x.wav is cut short: 6 of 16 bytes');
    expect(() => decodeWav(whole.subarray(0, 30))).toThrow('without a format or data chunk');
    expect(() => decodeWav(Buffer.from('words'))).toThrow('not a WAV file');
    expect(() => encodeWav({ sampleRate: 48000, channels: [] })).toThrow('at least one channel');
    expect(() => encodeWav({ sampleRate: 1, channels: [new Float32Array(1), new Float32Array(2)] })).toThrow(
      'same length',
    );
  });

  it('carries a text, and decodes at the model rate', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'orrery-wav-'));
    try {
      const path = join(folder, 'sound.wav');
      const text = `{"é":"${'z'.repeat(100_001)}"}`;
      writeFileSync(path, encodeWav(stereo, { metadata: text }));
      expect((await readArtifactMetadata(path)) === text).toBe(true);
      expect((await decodeSound(path))?.channels.map((channel) => channel.length)).toEqual([4, 4]);
      const mono = { sampleRate: 24000, channels: [new Float32Array(2400).fill(0.5)] };
      writeFileSync(path, encodeWav(mono, { format: 'float32' }));
      const decoded = await decodeSound(path);
      expect(decoded?.sampleRate).toBe(48000);
      expect(decoded?.channels.map((channel) => channel[2400]?.toFixed(3))).toEqual(['0.500', '0.500']);
      expect(decoded?.channels[0]?.length).toBe(4800);
      expect(await readArtifactMetadata(path)).toBeNull();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
