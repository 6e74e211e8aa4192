import { expect, it } from 'vitest';
import type { Plan } from '../../pipeline/plan-types.js';
import { differingFields, type Fingerprint } from './fingerprint.js';
import { type Provenance, readProvenance, writeProvenance } from './provenance.js';

const plan: Plan = {
  version: 1,
  task: 'transfer',
  model: 'tiny',
  canvas: { width: 320, height: 192 },
  content: { width: 320, height: 192 },
  frames: 9,
  fps: 12.5,
  steps: 4,
  schedule: { solver: 'unipc', grid: 'native', flowShift: 10, order: 2, variant: 'bh2', karras: null },
  guidance: { scale: 3, interval: [400, 1000], controlScale: 1.5, controlInterval: null },
  seed: 7,
  draw: 2,
  prompt: { text: 'a "b"\nc', tokens: [1, 2, 3], truncated: false },
  negativePrompt: null,
  condition: null,
  sound: null,
  action: null,
  transfer: {
    hints: [{ kind: 'edge', computed: true, weight: 1, preset: 'medium' }],
    attention: 'weighted',
    chunkFrames: 9,
    totalFrames: 9,
    conditionalFrames: 1,
    firstChunkConditionalFrames: 0,
    showControlCondition: false,
    showInput: false,
    shareTemporalPositions: true,
  },
  skip: { steps: [], mode: 'hold' },
  reuse: { stepCache: null, guidanceEvery: 1 },
  inputs: [{ role: 'video', sha256: 'ab', width: 64, height: 48, frames: 9 }],
};

const fingerprint: Fingerprint = {
  orrery: '0.1.0',
  checkpoint: 'c0ffee',
  device: 'cpu',
  blas: 'built-in',
  node: '20',
  ffmpeg: null,
};

const provenance: Provenance = {
  orrery: 1,
  plan,
  framesSha256: 'cd',
  fingerprint,
  inputs: { model: null, image: null, video: 'clip.mp4', controls: {} },
  codecOptions: { crf: 20 },
};

it('reads what it wrote', () => {
  expect(readProvenance(writeProvenance(provenance))).toEqual(provenance);
});

it.each([
  ['no JSON', 'a comment of another program'],
  ['another object', '{"a": 1}'],
  ['a plan of another version', JSON.stringify({ ...provenance, plan: { ...plan, version: 2 } })],
  ['a plan with a hole', JSON.stringify({ ...provenance, plan: { ...plan, seed: undefined } })],
  [
    'an unknown hint',
    JSON.stringify({ ...provenance, plan: { ...plan, transfer: { ...plan.transfer, hints: [{ kind: 'smell' }] } } }),
  ],
])('does not take %s', (_, text) => {
  expect(readProvenance(text)).toBeUndefined();
});

it('names the fields in which fingerprints differ', () => {
  expect(differingFields(fingerprint, fingerprint)).toEqual([]);
  expect(differingFields(fingerprint, { ...fingerprint, blas: 'libopenblas.so', ffmpeg: '5.1' })).toEqual([
    'blas',
    'ffmpeg',
  ]);
});

it('takes a file of before there were several pictures of a seed for the first of them', () => {
  const { draw: _draw, ...older } = provenance.plan;
  const read = readProvenance(JSON.stringify({ ...provenance, plan: older }));
  expect(read).toEqual({ ...provenance, plan: { ...provenance.plan, draw: 0 } });
});
