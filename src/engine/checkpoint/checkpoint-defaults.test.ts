import { describe, expect, it } from 'vitest';
import { readCheckpointDefaults } from './checkpoint-defaults.js';

describe('readCheckpointDefaults', () => {
  it('reads sizes and words of either spelling', () => {
    const value = {
      'text-to-video': { size: '320x192', frames: 25, fps: 12, steps: 20, guidance: 4, flow_shift: 5 },
      text_to_image: { width: 256, guidance_interval: [400, 1000] },
    };
    expect(readCheckpointDefaults(value, 'm.json')).toEqual({
      'text-to-video': { width: 320, height: 192, frames: 25, fps: 12, steps: 20, guidance: 4, flowShift: 5 },
      'text-to-image': { width: 256, guidanceInterval: [400, 1000] },
    });
    expect(readCheckpointDefaults(undefined, 'm.json')).toEqual({});
  });

  it.each([
    [{ 'text-to-smell': {} }, /m\.json: orrery_defaults has a task text-to-smell; there are text-to-image/],
    [{ transfer: { steps: 0 } }, /orrery_defaults \/transfer\/steps/],
    [{ transfer: { stepps: 4 } }, /orrery_defaults \/transfer/],
    [[], /orrery_defaults/],
  ])('refuses %j', (value, message) => {
    expect(() => readCheckpointDefaults(value, 'm.json')).toThrow(message);
  });
});
