// The encoder's front end: volume, padding, and the short-time Fourier transform as a convolution kernel. Source: spec, section 6.
import type { HostTensor } from '../../backend/index.js';
import { hostFloats } from '../../nn/conv1d.js';
import type { SoundEncoderConfig } from './config.js';

/** The level that the loudest sample is brought to before encoding. */
const PEAK = 0.95;

/**
 * Short-time Fourier transform of `channels` interleaved channels, as a kernel over rows of one hop:
 * `[channels * 2 * bins, channels * hop, fft / hop]`, Hann window (periodic); outputs are, per channel, the real parts of all
 * bins, then the imaginary parts.
 */
export function spectrogramKernel({ fft, hop }: SoundEncoderConfig, channels: number): HostTensor {
  const bins = fft / 2 + 1;
  const [width, taps] = [channels * hop, fft / hop];
  const kernel = new Float32Array(channels * 2 * bins * width * taps);
  for (let channel = 0; channel < channels; channel++)
    for (let bin = 0; bin < bins; bin++)
      for (let n = 0; n < fft; n++) {
        const window = 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / fft);
        const angle = (2 * Math.PI * ((bin * n) % fft)) / fft;
        const column = ((n % hop) * channels + channel) * taps + Math.floor(n / hop);
        const real = (channel * 2 * bins + bin) * width * taps + column;
        kernel[real] = window * Math.cos(angle);
        kernel[real + bins * width * taps] = -window * Math.sin(angle);
      }
  return hostFloats(kernel, [channels * 2 * bins, width, taps]);
}

/**
 * Brings an interleaved waveform to the level and length that the encoder takes: peak 0.95 (silence stays), zeros to a whole
 * number of latents, and half of what the last window overhangs on both sides.
 * @param latentHop samples per latent and channel
 */
export function prepareWaveform(
  { fft, hop, normaliseVolume }: SoundEncoderConfig,
  waveform: Float32Array,
  channels: number,
  latentHop: number,
): Float32Array {
  const unit = latentHop * channels;
  const overhang = (fft - hop) * channels;
  const prepared = new Float32Array(Math.ceil(waveform.length / unit) * unit + overhang);
  const peak = waveform.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  const gain = normaliseVolume && peak > 0 ? PEAK / peak : 1;
  for (const [i, x] of waveform.entries()) prepared[overhang / 2 + i] = x * gain;
  return prepared;
}
