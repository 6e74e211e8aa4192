import { describe, expect, it } from 'vitest';
import { type CudaSurvey, checkSynthetic, chooseDevice, howToGetGpu, openDevice, whyNoGpu } from './loader.js';

const gpu = (major: number) => ({ ordinal: 0, name: 'A GPU', capability: { major, minor: 0 }, totalBytes: 8e9 });
const whole: CudaSurvey = {
  driver: '13.0',
  gpus: [gpu(9)],
  libraries: [{ name: 'nvrtc', version: '13.0', path: null }],
  lacks: [],
};

describe('chooseDevice', () => {
  it.each([
    ['cpu', 'cpu'],
    ['CPU', 'cpu'],
    ['cuda', 'cuda:0'],
    ['cuda:0', 'cuda:0'],
    ['CUDA:3', 'cuda:3'],
  ])('takes %s as %s', (name, device) => {
    expect(chooseDevice(name, [])).toBe(device);
  });

  it('has something for auto on any machine', () => {
    expect(chooseDevice('auto', [])).toMatch(/^(cpu|cuda:\d+)$/);
    expect(chooseDevice(undefined, [])).toBe(chooseDevice('auto', []));
  });

  it('names what there is for any other name', () => {
    expect(() => chooseDevice('cud', [])).toThrow(
      'device cud is unknown (did you mean cuda?); there are: cpu, cuda, and cuda:N for further GPUs',
    );
    expect(() => chooseDevice('cuda:x', [])).toThrow('device cuda:x is unknown');
  });
});

describe('why a GPU cannot be used', () => {
  it('is nothing where it can', () => {
    expect(whyNoGpu(whole, 0)).toBeNull();
  });

  it('is what is missing, with the command that installs it; cuDNN may be missing', () => {
    const lack = { reason: 'not found', remedy: 'pip install nvidia-cublas' };
    expect(whyNoGpu({ ...whole, lacks: [{ what: 'cublasLt', ...lack, isFatal: true }] }, 0)).toBe(
      'cublasLt: not found; pip install nvidia-cublas',
    );
    expect(whyNoGpu({ ...whole, lacks: [{ what: 'cudnn', ...lack, isFatal: false }] }, 0)).toBeNull();
  });

  it('names the packages of pip in one command', () => {
    const lack = { reason: 'not found', remedy: 'pip install x', isFatal: true };
    const lacks: CudaSurvey['lacks'] = [
      { what: 'driver', reason: 'not found', remedy: 'install the driver', isFatal: true },
      { what: 'nvrtc', ...lack, wheel: 'nvidia-cuda-nvrtc' },
      { what: 'cublasLt', ...lack, wheel: 'nvidia-cublas' },
    ];
    const remedy =
      'install the driver; pip install nvidia-cuda-nvrtc nvidia-cublas, or install the CUDA toolkit and set CUDA_HOME';
    expect(howToGetGpu({ ...whole, lacks })).toBe(remedy);
    expect(whyNoGpu({ ...whole, lacks }, 0)).toBe(
      `driver: not found · nvrtc: not found · cublasLt: not found; ${remedy}`,
    );
    expect(howToGetGpu(whole)).toBe('');
  });

  it('is its number or its age', () => {
    expect(whyNoGpu(whole, 1)).toBe('there is one GPU, counted from 0; give one of them');
    expect(whyNoGpu({ ...whole, gpus: [gpu(7)] }, 0)).toContain(
      'compute capability 7.0, the kernels need 8.0 or newer',
    );
  });
});

describe('checkSynthetic', () => {
  it('refuses weights of full size on the CPU alone', () => {
    expect(() => checkSynthetic('nano', 'cpu')).toThrow('synthetic nano makes weights of full size on a GPU');
    expect(() => checkSynthetic('nano', 'cuda:0')).not.toThrow();
    expect(() => checkSynthetic(undefined, 'cpu')).not.toThrow();
  });
});

describe('openDevice', () => {
  it('refuses bfloat16 on the CPU', async () => {
    await expect(openDevice('cpu', { dtype: 'bf16' })).rejects.toThrow('the CPU device computes in f32');
  });

  it('says of a GPU that cannot be there why', async () => {
    await expect(openDevice('cuda:999', {})).rejects.toThrow('device cuda:999 cannot be used: ');
  });
});
