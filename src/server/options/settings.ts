// The settings of a server: what the flags mean, every question answered.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { RequestError, showValue } from '../../protocol/index.js';
import { isRecord } from '../bodies/json-text.js';
import { type DeviceSettings, readDeviceSettings } from './device-settings.js';
import { type FlagInput, findFlag, readFlags, textsOf } from './flags.js';
import { type ReuseSettings, readReuseSettings } from './reuse-settings.js';

type Named = Readonly<Record<string, unknown>>;

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface GuardSettings {
  readonly isEnabled: boolean;
  readonly url: string | null;
  readonly model: string | null;
  readonly key: string | null;
  readonly framesUrl: string | null;
  readonly timeoutSeconds: number;
  readonly blocklists: readonly string[];
  readonly logsPrompts: boolean;
}

export interface InputSettings {
  readonly maxUploadBytes: number;
  readonly maxJsonBytes: number;
  readonly maxPixels: number;
  readonly timeoutSeconds: number;
  readonly mediaRoots: readonly string[];
  readonly mediaHosts: readonly string[];
  readonly allowsAnyFfmpeg: boolean;
}

export interface ServeSettings {
  readonly host: string;
  readonly port: number;
  readonly servedModelNames: readonly string[];
  readonly apiKeys: readonly string[];
  /** Without a slash at its end; empty for none. */
  readonly rootPath: string;
  readonly origins: readonly string[];
  readonly requestTimeoutSeconds: number;
  readonly model: string | undefined;
  readonly revision: string | undefined;
  readonly device: string | undefined;
  readonly threads: number | undefined;
  /** How the device computes and what it keeps where. */
  readonly deviceSettings: DeviceSettings;
  readonly soundTokenizerPath: string | null;
  /** `policy_server_config` that the flags give. */
  readonly policyServer: Named | null;
  readonly flowShift: number | null;
  readonly defaultParams: Named;
  readonly reuse: ReuseSettings;
  readonly maxImagePixels: number;
  readonly syncTimeoutSeconds: number;
  readonly openpiIdleSeconds: number;
  readonly guard: GuardSettings;
  readonly inputs: InputSettings;
  readonly storagePath: string;
  readonly lifetimeSeconds: number;
  readonly maxQueue: number;
  /** Steps between two previews; 0 for none. */
  readonly previewSteps: number;
  readonly initTimeoutSeconds: number;
  readonly drainTimeoutSeconds: number;
  readonly logLevel: LogLevel;
  readonly logsRequests: boolean;
}

/** Settings and what is worth telling about them. */
export interface ReadSettings {
  readonly settings: ServeSettings;
  /** Lines on flags that change nothing. */
  readonly notes: readonly string[];
}

/**
 * Reads the settings.
 * @param input values by the names of flags, from flags, environment and config file
 * @throws RequestError naming the flag, its value and what would fit
 */
export function readSettings(input: FlagInput): ReadSettings {
  const { values, notes } = readFlags(input);
  const text = (name: string) => textOr(values[name]) ?? textOr(findFlag(name)?.fallback);
  const count = (name: string) => numberOr(values[name]) ?? numberOr(findFlag(name)?.fallback) ?? 0;
  const many = (name: string) => textsOf(values[name]);
  const stages = readStageOverrides(values['stage-overrides']);
  const key = text('guardrail-key-file');
  const reuse = readReuseSettings(values);
  const settings: ServeSettings = {
    host: text('host') ?? '127.0.0.1',
    port: count('port'),
    servedModelNames: many('served-model-name'),
    apiKeys: [...many('api-key'), ...readKeyFile('api-key-file', text('api-key-file'))],
    rootPath: (text('root-path') ?? '').replace(/\/+$/, ''),
    origins: many('allow-origin'),
    requestTimeoutSeconds: count('request-timeout'),
    model: text('model'),
    revision: text('revision'),
    device: text('device'),
    threads: numberOr(values.threads),
    deviceSettings: readDeviceSettings(values),
    soundTokenizerPath: readPipelineArguments(values['custom-pipeline-args']),
    policyServer: stages.policyServer,
    flowShift: numberOr(values['flow-shift']) ?? null,
    reuse,
    defaultParams: {
      ...(reuse.stepCache === null ? {} : { step_cache: reuse.stepCache }),
      ...readDefaultParams(values['default-sampling-params']),
    },
    maxImagePixels: count('max-generated-image-size'),
    syncTimeoutSeconds: count('sync-timeout'),
    openpiIdleSeconds: count('robot-openpi-idle-timeout'),
    guard: {
      isEnabled: values['no-guardrails'] !== true && stages.guardrails,
      url: text('guardrail-url') ?? null,
      model: text('guardrail-model') ?? null,
      key: readKeyFile('guardrail-key-file', key)[0] ?? null,
      framesUrl: text('guardrail-frames-url') ?? null,
      timeoutSeconds: count('guardrail-timeout'),
      blocklists: many('guardrail-blocklist').map((path) => resolve(path)),
      logsPrompts: values['log-blocked-prompts'] === true,
    },
    inputs: {
      maxUploadBytes: count('max-upload-size'),
      maxJsonBytes: count('max-json-size'),
      maxPixels: count('max-media-pixels'),
      timeoutSeconds: count('media-timeout'),
      mediaRoots: many('media-root').map((path) => resolve(path)),
      mediaHosts: many('allow-media-hosts').flatMap((hosts) =>
        hosts.split(',').map((host) => host.trim().toLowerCase()),
      ),
      allowsAnyFfmpeg: values['allow-bundled-ffmpeg'] === true,
    },
    storagePath: resolve(text('storage-path') ?? join(homedir(), '.local', 'share', 'orrery')),
    lifetimeSeconds: count('storage-lifetime'),
    maxQueue: count('max-queue'),
    previewSteps: count('preview-steps'),
    initTimeoutSeconds: count('init-timeout'),
    drainTimeoutSeconds: count('drain-timeout'),
    logLevel: readLogLevel(text('log-level') ?? 'info'),
    logsRequests: values['log-requests'] === true,
  };
  return { settings, notes };
}

function textOr(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function numberOr(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function readKeyFile(flag: string, path: string | undefined): readonly string[] {
  if (path === undefined) return [];
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new RequestError('invalid_value', flag, `--${flag} ${path} cannot be read: ${why}`);
  }
  const keys = text.split(/\r?\n/).map((line) => line.trim());
  const found = keys.filter((line) => line !== '' && !line.startsWith('#'));
  if (found.length > 0) return found;
  throw new RequestError('invalid_value', flag, `--${flag} ${path} holds no key; write one on a line`);
}

/** Stage 0 is the only one; of it the guardrails and the robot socket can be set. */
function readStageOverrides(value: unknown): { readonly policyServer: Named | null; readonly guardrails: boolean } {
  const flag = 'stage-overrides';
  let policyServer: Named | null = null;
  let guardrails = true;
  const refuse = (what: string): never => {
    throw new RequestError('unsupported', flag, `--${flag}: ${what}`);
  };
  for (const [stage, config] of Object.entries(isRecord(value) ? value : {})) {
    if (stage !== '0') refuse(`there is no stage ${stage}; the model is stage 0`);
    const unknown = Object.keys(isRecord(config) ? config : {}).find((name) => name !== 'model_config');
    if (!isRecord(config) || unknown !== undefined)
      refuse(`of stage 0 only model_config can be set, got ${unknown ?? showValue(config)}`);
    const model = isRecord(config) ? config.model_config : undefined;
    for (const [name, member] of Object.entries(isRecord(model) ? model : {})) {
      if (name === 'policy_server_config' && isRecord(member)) policyServer = member;
      else if (name === 'guardrails' && typeof member === 'boolean') guardrails = member;
      else
        refuse(`model_config.${name} cannot be set to ${showValue(member)}; policy_server_config and guardrails can`);
    }
  }
  return { policyServer, guardrails };
}

function readPipelineArguments(value: unknown): string | null {
  const { sound_tokenizer_path: path, ...rest } = isRecord(value) ? value : {};
  const [unknown] = Object.keys(rest);
  if (unknown === undefined && (path === undefined || typeof path === 'string')) return path ?? null;
  throw new RequestError(
    'unsupported',
    'custom-pipeline-args',
    `--custom-pipeline-args: only sound_tokenizer_path can be given, as text, got ${unknown ?? showValue(path)}`,
  );
}

function readDefaultParams(value: unknown): Named {
  if (!isRecord(value)) return {};
  const [stage, ...others] = Object.keys(value);
  if (stage !== '0') return value;
  const inner = value['0'];
  if (others.length === 0 && isRecord(inner)) return inner;
  throw new RequestError(
    'invalid_value',
    'default-sampling-params',
    '--default-sampling-params must be an object of parameters, or that of stage "0" alone',
  );
}

function readLogLevel(given: string): LogLevel {
  const names: Readonly<Record<string, LogLevel>> = {
    warning: 'warn',
    critical: 'error',
    fatal: 'error',
    off: 'silent',
  };
  const levels: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'silent'];
  const lower = given.toLowerCase();
  const level = names[lower] ?? levels.find((known) => known === lower);
  if (level !== undefined) return level;
  throw new RequestError('invalid_value', 'log-level', `--log-level must be one of ${levels.join(', ')}, got ${given}`);
}
