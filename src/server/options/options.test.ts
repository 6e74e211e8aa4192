import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { mergeInputs, nameSource, printConfig, readConfigFile } from './config-file.js';
import { deviceOptions } from './device-settings.js';
import { findFlag, readFlags, refusalOnCpu, serveFlags } from './flags.js';
import { reuseOptions } from './reuse-settings.js';
import { isObeyed } from './serve-flag.js';
import { readSettings } from './settings.js';

const folder = mkdtempSync(join(tmpdir(), 'orrery-options-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

describe('the table of flags', () => {
  it('has each name once, described in a line', () => {
    const names = serveFlags.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, about } of serveFlags) {
      expect(about.length, name).toBeGreaterThan(5);
      expect(about.length, name).toBeLessThanOrEqual(120);
    }
  });

  it('has every flag of the original interface', () => {
    const original =
      'omni host port served-model-name api-key root-path uvicorn-log-level model-class-name init-timeout stage-init-timeout no-guardrails ' +
      'stage-overrides deploy-config num-gpus ulysses-degree usp ulysses-mode ring-degree allgather-degree tensor-parallel-size ' +
      'cfg-parallel-size use-hsdp hsdp-shard-size hsdp-replicate-size data-parallel-size enable-expert-parallel api-server-count ' +
      'enable-layerwise-offload enable-cpu-offload enable-distributed-layerwise-offload dlo-use-allgather dlo-no-use-allgather ' +
      'diffusion-offload-config quantization diffusion-quantization-config force-cutlass-fp8 vae-use-tiling vae-use-slicing ' +
      'vae-patch-parallel-size vae-parallel-mode cache-backend cache-config flow-shift boundary-ratio default-sampling-params ' +
      'max-generated-image-size diffusion-attention-backend diffusion-attention-config fa-deterministic diffusion-kv-cache-dtype ' +
      'enforce-eager diffusion-compile-granularity diffusion-compile-dynamic step-execution request-batch-max-wait-ms lora-path ' +
      'lora-backend lora-scale enable-diffusion-pipeline-profiler enable-sleep-mode robot-openpi-idle-timeout custom-pipeline-args ' +
      'video-output-transport additional-config enable-request-id-headers';
    expect(original.split(' ').filter((name) => findFlag(name) === undefined)).toEqual([]);
  });

  it('is obeyed, noted or refused, never passed over', () => {
    for (const flag of serveFlags) {
      const value =
        flag.kind === 'switch'
          ? true
          : flag.kind === 'json'
            ? {}
            : flag.kind === 'text'
              ? (flag.choices?.find((choice) => choice !== 'none') ?? 'x')
              : (flag.minimum ?? 2);
      const read = () => readFlags({ [flag.name]: value });
      if (isObeyed(flag)) expect(read().values, flag.name).toHaveProperty([flag.name]);
      else if (flag.does.effect === 'noted') expect(read().notes[0]).toContain(`--${flag.name} changes nothing: `);
      else expect(read, flag.name).toThrow(`--${flag.name} `);
      if (flag.does.effect !== 'gpu') continue;
      expect(refusalOnCpu(read().values)?.message, flag.name).toMatch(new RegExp(`^--${flag.name} (is|takes) .*: `));
      for (const harmless of flag.does.values) expect(refusalOnCpu({ [flag.name]: harmless })).toBeNull();
    }
  });
});

describe('settings', () => {
  const read = (input: Readonly<Record<string, unknown>>) => readSettings(input).settings;

  it('have defaults for everything', () => {
    expect(read({})).toMatchObject({
      host: '127.0.0.1',
      port: 8000,
      apiKeys: [],
      maxImagePixels: 33_177_600,
      syncTimeoutSeconds: 600,
      openpiIdleSeconds: 30,
      initTimeoutSeconds: 600,
      maxQueue: 1000,
      logLevel: 'info',
      flowShift: null,
      policyServer: null,
      defaultParams: {},
      guard: { isEnabled: true, url: null },
      inputs: { maxUploadBytes: 512 * 2 ** 20, mediaRoots: [], mediaHosts: [] },
    });
  });

  it('take other spellings of names and values', () => {
    const keys = file('keys', '# keys\none\n\n two \n');
    const settings = read({
      uvicorn_log_level: 'WARNING',
      'allow-media-hosts': 'Example.org, cdn.example.org:8080',
      'default-sampling-params': '{"0":{"num_inference_steps":4}}',
      'stage-overrides': {
        '0': { model_config: { policy_server_config: { action_space: 'joint_position' }, guardrails: false } },
      },
      'custom-pipeline-args': '{"sound_tokenizer_path":"/s"}',
      'root-path': '/orrery/',
      'api-key': ['zero'],
      'api-key-file': keys,
      port: '0',
    });
    expect(settings).toMatchObject({
      logLevel: 'warn',
      defaultParams: { num_inference_steps: 4 },
      policyServer: { action_space: 'joint_position' },
      soundTokenizerPath: '/s',
      rootPath: '/orrery',
      apiKeys: ['zero', 'one', 'two'],
      port: 0,
      guard: { isEnabled: false },
      inputs: { mediaHosts: ['example.org', 'cdn.example.org:8080'] },
    });
  });

  it('make a step cache the default of requests, and shapes and bounds options of the device process', () => {
    const settings = read({
      'cache-backend': 'tea_cache',
      'cache-config': '{"rel_l1_thresh":0.2,"num_warmup_steps":12}',
      'default-sampling-params': { num_inference_steps: 20 },
      warmup: ['832x480x49,1024x1024'],
      'text-cache-size': 0,
      'graph-cache-size': 2,
    });
    expect(settings.defaultParams).toEqual({
      step_cache: { kind: 'tea_cache', rel_l1_thresh: 0.2, num_warmup_steps: 12 },
      num_inference_steps: 20,
    });
    expect(reuseOptions(settings.reuse)).toEqual({
      warmUp: ['832x480x49', '1024x1024'],
      keep: { textBytes: 0, shapes: 2 },
    });
    expect(reuseOptions(read({ 'cache-backend': 'none' }).reuse)).toEqual({});
    expect(read({ 'cache-backend': 'none' }).defaultParams).toEqual({});
  });

  it.each([
    [{ 'max-quue': 1 }, '--max-quue is no flag of the server; did you mean --max-queue?'],
    [{ port: 1.5 }, '--port must be a whole number from 0 to 65535, got 1.5'],
    [{ 'flow-shift': 'x' }, '--flow-shift must be a number of at least 0.001, got "x"'],
    [{ 'no-guardrails': 'yes' }, '--no-guardrails must be true or false, got "yes"'],
    [{ 'default-sampling-params': '[1]' }, '--default-sampling-params must be a JSON object'],
    [{ 'default-sampling-params': { '0': {}, '1': {} } }, 'or that of stage "0" alone'],
    [{ 'stage-overrides': { '0': { devices: 1 } } }, 'of stage 0 only model_config can be set, got devices'],
    [{ 'stage-overrides': { '0': { model_config: { dtype: 'x' } } } }, 'model_config.dtype cannot be set'],
    [{ 'custom-pipeline-args': { x: 1 } }, 'only sound_tokenizer_path can be given'],
    [{ 'log-level': 'loud' }, '--log-level must be one of'],
    [{ 'model-class-name': 'Other' }, '--model-class-name takes Cosmos3OmniDiffusersPipeline only, got "Other"'],
    [{ 'cache-backend': 'mag_cache' }, '--cache-backend must be none or tea_cache or sea_cache'],
    [{ 'cache-config': '{"rel_l1_thresh":0.2}' }, 'add --cache-backend tea_cache or sea_cache'],
    [{ 'cache-backend': 'tea_cache', 'cache-config': { rel_l1_tresh: 1 } }, 'did you mean rel_l1_thresh?'],
    [{ warmup: ['832x480:text-to-video'] }, 'a clip needs frames'],
  ])('refuse %j', (input, message) => {
    expect(() => readSettings(input)).toThrow(message);
  });
});

describe('settings of the device', () => {
  const read = (input: Readonly<Record<string, unknown>>) => readSettings(input).settings.deviceSettings;

  it('tell the device process nothing of what is as it is by default', () => {
    expect(deviceOptions(read({}))).toEqual({});
    expect(deviceOptions(read({ 'lora-path': '/a', 'lora-scale': '0.5' }))).toEqual({
      lora: { path: '/a', scale: 0.5 },
    });
    expect(deviceOptions(read({ 'lora-path': '/a' }))).toEqual({ lora: { path: '/a', scale: 1 } });
    expect(read({}).refusalOnCpu).toBeNull();
  });

  it('arrive as an engine is loaded with them', () => {
    const settings = read({
      dtype: 'bf16',
      'fp8-attention': true,
      fp8_fast_accumulation: true,
      'tune-products': true,
      'cuda-libraries': ['/a:/b', '/c'],
      synthetic: 'nano',
      quantization: 'fp8',
      'quantization-exclude': ['und', '3'],
      'quantization-wide-steps': '1,0',
      'keep-wide': true,
      'enable-layerwise-offload': true,
      'vae-use-tiling': true,
    });
    expect(deviceOptions(settings)).toEqual({
      dtype: 'bf16',
      gpu: { fp8Attention: true, fp8FastAccumulation: true, tune: true },
      cudaLibraries: ['/a', '/b', '/c'],
      synthetic: 'nano',
      quantization: {
        format: 'fp8',
        excludeTowers: ['und'],
        excludeProjections: [],
        excludeLayers: [3],
        wideFirstSteps: 1,
        wideLastSteps: 0,
        keepWide: true,
      },
      offload: ['und', 'gen'],
      vaeTiling: true,
    });
    expect(settings.refusalOnCpu?.message).toBe(
      '--dtype takes f32 only, got "bf16": the CPU device computes in 32-bit floats',
    );
  });

  it.each([
    [{ 'release-text-tower': true }, ['und']],
    [{ 'enable-cpu-offload': true }, ['und']],
    [{ 'enable-cpu-offload': true, 'enable-layerwise-offload': true }, ['und', 'gen']],
    [{ 'diffusion-offload-config': '{"mode":"layer","components":["dit"]}' }, ['und', 'gen']],
    [{ 'diffusion-offload-config': { mode: 'module', components: ['text_encoder'] } }, ['und']],
  ])('%j keeps %j in host memory', (input, offload) => {
    expect(deviceOptions(read(input))).toEqual({ offload });
  });

  it('take the JSON form of quantisation', () => {
    const config = { method: 'fp8', ignored_layers: ['layers.0'] };
    const given = { quantization: 'fp8', 'diffusion-quantization-config': config };
    expect(deviceOptions(read(given)).quantization).toMatchObject({ format: 'fp8', excludeLayers: [0] });
  });

  it.each([
    [
      { quantization: 'nvfp4' },
      '--quantization nvfp4 has no kernels here: four-bit products need compute capability 10.0',
    ],
    [
      { 'diffusion-quantization-config': { method: 'nvfp4' } },
      '--diffusion-quantization-config: nvfp4 has no kernels here',
    ],
    [{ 'lora-scale': 0.5 }, '--lora-scale says nothing without an adapter; add --lora-path'],
    [{ 'lora-backend': 'punica' }, '--lora-backend takes auto or merge only, got "punica": an adapter (--lora-path)'],
    [{ quantization: 'int4' }, '--quantization must be none or fp8, got int4'],
    [{ synthetic: 'nano', model: 'm' }, '--synthetic takes the place of a checkpoint'],
    [{ dtype: 'f16' }, '--dtype must be bf16 or f32, got "f16"'],
    [{ 'quantization-exclude': ['und'] }, 'say nothing without --quantization fp8'],
    [
      { 'diffusion-quantization-config': { method: 'fp8' }, 'keep-wide': true },
      '--keep-wide and --diffusion-quantization-config say the same in two ways',
    ],
    [
      { 'diffusion-quantization-config': { method: 'none' }, quantization: 'fp8' },
      '--quantization and --diffusion-quantization-config say the same in two ways',
    ],
    [
      { 'diffusion-offload-config': { mode: 'layer', components: [] }, 'enable-cpu-offload': true },
      '--enable-cpu-offload and --diffusion-offload-config say the same in two ways',
    ],
  ])('refuse %j', (input, message) => {
    expect(() => read(input)).toThrow(message);
  });
});

describe('config files', () => {
  it('are YAML or JSON; flags win over them', () => {
    const yaml = readConfigFile(file('a.yaml', 'port: 1\nmax_queue: 2\napi-key: [a, b]\n'));
    expect(readSettings(mergeInputs({ port: 3 }, yaml)).settings).toMatchObject({
      port: 3,
      maxQueue: 2,
      apiKeys: ['a', 'b'],
    });
    expect(readConfigFile(file('b.json', '{"host": "::1"}'))).toEqual({ host: '::1' });
    expect(readConfigFile(file('c.yaml', ''))).toEqual({});
  });

  it('are named where they are wrong, unless they come from the command line', () => {
    const sources = [
      { name: null, input: { host: 'localhost' } },
      { name: 'from the environment', input: { 'max-queue': '1' } },
      { name: 'from o.yaml', input: { port: 70_000, prot: 1, max_queue: 3 } },
    ];
    const messageOf = (input: Readonly<Record<string, unknown>>) => {
      try {
        readSettings(input);
      } catch (error) {
        return (nameSource(error, sources) as Error).message;
      }
      return 'nothing is wrong';
    };
    expect(messageOf({ port: 70_000 })).toMatch(/^--port .*70000.* \(from o\.yaml\)$/);
    expect(messageOf({ prot: 1 })).toBe('--prot is no flag of the server; did you mean --port? (from o.yaml)');
    expect(messageOf({ 'max-queue': 'many' })).toMatch(/ \(from the environment\)$/);
    expect(messageOf({ 'log-level': 'loud' })).toMatch(/loud/);
    expect(messageOf({ 'log-level': 'loud' })).not.toMatch(/\(from/);
    const other = new Error('x');
    expect(nameSource(other, sources)).toBe(other);
  });

  it.each([
    ['d.yaml', '- a\n', 'it must be a list of names and values'],
    ['e.yaml', 'port: [1\n', '--config'],
    ['f.yaml', 'config: x\n', 'can only be given as flags'],
  ])('are refused: %s', (name, text, message) => {
    expect(() => readConfigFile(file(name, text))).toThrow(message);
  });

  it('can be made of what is in force, without keys', () => {
    const printed = printConfig({ port: 1, 'api-key': ['secret'], 'no-guardrails': true });
    expect(printed).toContain('port: 1\n');
    expect(printed).toContain('no-guardrails: true\n');
    expect(printed).not.toContain('secret');
    const again = readConfigFile(file('g.yaml', printed.replace(/api-key:\n {2}- .*\n/, '')));
    expect(readSettings(again).settings).toMatchObject({ port: 1, guard: { isEnabled: false } });
  });
});
