import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { mergeInputs, printConfig, readConfigFile } from './config-file.js';
import { findFlag, readFlags, serveFlags } from './flags.js';
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
        flag.kind === 'switch' ? true : flag.kind === 'json' ? {} : flag.kind === 'text' ? 'x' : (flag.minimum ?? 2);
      const read = () => readFlags({ [flag.name]: value });
      if (flag.does.effect === 'works') expect(read().values, flag.name).toHaveProperty([flag.name]);
      else if (flag.does.effect === 'noted') expect(read().notes[0]).toContain(`--${flag.name} changes nothing: `);
      else expect(read, flag.name).toThrow(`--${flag.name} `);
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
    [{ 'cache-backend': 'tea_cache' }, '--cache-backend takes none only, got "tea_cache"'],
  ])('refuse %j', (input, message) => {
    expect(() => readSettings(input)).toThrow(message);
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
