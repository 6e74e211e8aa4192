import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from './config.js';

describe('readConfig', () => {
  it('has defaults for an empty environment', () => {
    expect(readConfig({})).toEqual({
      token: undefined,
      offline: false,
      cacheDir: join(homedir(), '.cache/huggingface/hub'),
      endpoint: undefined,
      model: undefined,
      device: undefined,
      threads: undefined,
      ffmpeg: undefined,
      blas: undefined,
      guardrailUrl: undefined,
      guardrailModel: undefined,
      guardrailKey: undefined,
      debug: false,
      dtype: undefined,
      kernelCache: join(homedir(), '.cache/orrery/kernels'),
      libraryRoots: [],
    });
  });

  it('reads each variable, blank ones as absent', () => {
    const env = {
      HF_TOKEN: ' hf_x ',
      HF_HUB_OFFLINE: 'Yes',
      HF_HOME: '/data/hf',
      ORRERY_MODEL: '',
      ORRERY_THREADS: '3',
      ORRERY_BLAS: 'off',
      CUDA_HOME: '/opt/cuda',
      LD_LIBRARY_PATH: '/a::/b',
    };
    expect(readConfig(env)).toMatchObject({
      token: 'hf_x',
      offline: true,
      cacheDir: '/data/hf/hub',
      model: undefined,
      threads: 3,
      blas: 'off',
      libraryRoots: ['/opt/cuda', '/a', '/b'],
    });
    expect(readConfig({ HF_HUB_CACHE: '~/hub', HF_HOME: '/data/hf' }).cacheDir).toBe(join(homedir(), 'hub'));
    expect(readConfig({ XDG_CACHE_HOME: '/cache' }).cacheDir).toBe('/cache/huggingface/hub');
  });

  it('refuses thread counts that are none', () => {
    expect(() => readConfig({ ORRERY_THREADS: '2.5' })).toThrow(
      'ORRERY_THREADS is 2.5; it must be a whole number above 0',
    );
  });
});
