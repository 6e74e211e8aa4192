import { describe, expect, it } from 'vitest';
import { readConfig } from '../config.js';
import { detectHardware } from './hardware.js';

const environment = readConfig({ ORRERY_DEVICE: 'cpu' });
const cpu = { device: 'cpu', name: 'cpu', hasFp8: false };

describe('detectHardware', () => {
  it.each([undefined, 'auto', 'cpu', 'CPU'])('%s finds the CPU', (asked) => {
    expect(detectHardware(asked, environment)).toEqual(cpu);
  });

  it.each([
    ['rtx_sm120', /^hardware rtx_sm120 was asked for, this machine has cpu: /],
    ['sm_90a', /^hardware sm_90a was asked for, this machine has cpu: /],
    ['tpu', /^hardware tpu is unknown; there are auto, cpu, cuda/],
  ])('%s is refused', (asked, message) => {
    expect(() => detectHardware(asked, environment)).toThrow(message);
  });
});
