// A running server: engine, guardrails, application and port, opened in order and closed in the reverse.
import type { AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import type { FastifyInstance } from 'fastify';
import { checkDeviceOptions } from '../engine/checkpoint/check-options.js';
import { type EngineConfig, readConfig } from '../engine/index.js';
import { type JobEngine, openJobEngine } from '../engine/jobs/open-job-engine.js';
import type { JsonObject } from '../engine/jobs/types.js';
import { chooseDevice } from '../engine/loader.js';
import { Planner } from '../engine/planner/planner.js';
import { createApp } from './app.js';
import { frameGuardOptions, guardedWorkerEntry } from './guard/frame-guard.js';
import { openPromptGuard } from './guard/prompt-guard.js';
import { MediaInspector } from './inputs/media-inspector.js';
import { type Logger, type LogTarget, openLog } from './operation/logging.js';
import { type MetricSources, openMetrics } from './operation/metrics.js';
import { openTracing } from './operation/tracing.js';
import { watchJobs } from './operation/watch-jobs.js';
import { deviceOptions } from './options/device-settings.js';
import { reuseOptions } from './options/reuse-settings.js';
import type { ServeSettings } from './options/settings.js';
import { openForecast } from './planning/forecast.js';
import { checkDefaults } from './requests/check-defaults.js';
import type { ServerContext } from './server-context.js';

/** What a server may be given besides its settings. */
export interface ServeOptions {
  /** Lines on settings that change nothing. */
  readonly notes?: readonly string[] | undefined;
  readonly logTarget?: LogTarget | undefined;
  readonly config?: EngineConfig | undefined;
}

/** A server that answers. */
export interface RunningServer {
  /** As `http://127.0.0.1:8000`. */
  readonly url: string;
  readonly app: FastifyInstance;
  readonly context: ServerContext;
  /** Resolves when the device process has opened its checkpoint. @throws WorkerRefusedError, or Error after the start-up limit */
  readonly ready: Promise<void>;
  /** Takes no further jobs, lets running ones finish within the limit, ends. What is not done runs at the next start. */
  close(drainSeconds?: number): Promise<void>;
}

/**
 * Starts a server. When this resolves it answers; whether the device is ready says `ready`.
 * @throws GuardrailMissingError, CheckpointError, LockHeldError, or an error of the port
 */
export async function serve(settings: ServeSettings, options: ServeOptions = {}): Promise<RunningServer> {
  const log = openLog(settings.logLevel, options.logTarget);
  for (const note of options.notes ?? []) log.warn(note);
  checkDefaults(settings.defaultParams);
  const config = options.config ?? readConfig();
  const { refusalOnCpu, cudaLibraries = [], ...choices } = settings.deviceSettings;
  const device = chooseDevice(settings.device ?? config.device, [...cudaLibraries, ...config.libraryRoots]);
  if (device === 'cpu' && refusalOnCpu !== null) throw refusalOnCpu;
  checkDeviceOptions(device, choices);
  const parts = settings.soundTokenizerPath === null ? {} : { sound_tokenizer: settings.soundTokenizerPath };
  const { model, revision } = settings;
  const memory = { ...choices, dtype: choices.dtype ?? config.dtype };
  const { synthetic, lora } = choices;
  const planner = await Planner.open({ model, revision, parts, synthetic, lora, config, device, memory });
  try {
    return await open(settings, { planner, log, config, device });
  } catch (error) {
    planner[Symbol.dispose]();
    throw error;
  }
}

interface Opened {
  readonly planner: Planner;
  readonly log: Logger;
  readonly config: EngineConfig;
  readonly device: string;
}

async function open(settings: ServeSettings, { planner, log, config, device }: Opened): Promise<RunningServer> {
  let sources: MetricSources | null = null;
  const metrics = openMetrics(() => sources);
  const described = planner.describe();
  const guard = openPromptGuard(settings.guard, described.needsGuardModel, { log, metrics });
  for (const note of guard.notes) log.warn(note);
  const engine = await openJobEngine({
    folder: settings.storagePath,
    devices: [{ device, options: workerOptions(settings, config) }],
    queue: { limit: settings.maxQueue, lifetimeSeconds: settings.lifetimeSeconds },
    ...(checksFrames(settings) ? { workerEntry: guardedWorkerEntry() } : {}),
    limits: { openMs: settings.initTimeoutSeconds * 1000 },
    log,
  });
  const inspector = new MediaInspector({
    maxPixels: settings.inputs.maxPixels,
    allowsAnyFfmpeg: settings.inputs.allowsAnyFfmpeg,
    ffmpeg: config.ffmpeg ?? null,
    timeoutMs: settings.inputs.timeoutSeconds * 1000,
  });
  const { queue, artifacts, uploads, events, supervisor, timelines, tokens } = engine;
  sources = { queue, supervisor, openStreams: () => events.followers };
  let isDraining = false;
  const ending = new AbortController();
  const names =
    settings.servedModelNames.length > 0 ? settings.servedModelNames : [settings.model ?? config.model ?? described.id];
  const tracing = openTracing();
  const context: ServerContext = {
    planner,
    queue,
    artifacts,
    uploads,
    events,
    supervisor,
    forecast: openForecast({
      queue,
      measured: (plan) => timelines.seconds(plan),
      estimate: (plan) => planner.estimate(plan),
    }),
    settings,
    modelNames: [names[0] ?? described.id, ...names.slice(1)],
    guard,
    inspector,
    tokens,
    metrics,
    tracing,
    startedAt: Math.floor(Date.now() / 1000),
    isDraining: () => isDraining,
    ending: ending.signal,
  };
  const stopWatching = watchJobs(context, log);
  const app = await createApp(context, log);
  try {
    await app.listen({ host: settings.host, port: settings.port });
  } catch (error) {
    stopWatching();
    await closeAll(app, engine, inspector);
    throw describePortError(error, settings);
  }
  supervisor.start();
  const url = addressOf(app);
  log.info({ url, model: context.modelNames[0] }, 'server listens');
  const ready = waitUntilReady(engine, settings.initTimeoutSeconds).then(() => log.info('device is ready'));
  // Whoever does not wait for it learns of a failure by `/ready` and the log.
  ready.catch((error: unknown) => log.error({ err: error }, 'device is not ready'));
  return {
    url,
    app,
    context,
    ready,
    async close(drainSeconds = 0) {
      if (isDraining) return;
      isDraining = true;
      log.info({ seconds: drainSeconds }, 'server drains');
      await supervisor.drain(drainSeconds * 1000);
      ending.abort(new Error('the server ends'));
      stopWatching();
      await closeAll(app, engine, inspector);
      planner[Symbol.dispose]();
      await tracing.flush();
      log.info('server has ended');
    },
  };
}

/** What the operating system says of an address, with what helps. */
function describePortError(error: unknown, { host, port }: ServeSettings): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const cause = { cause: error };
  switch (code) {
    case 'EADDRINUSE':
      return new Error(`port ${port} of ${host} is taken by another program; end it, or give another --port`, cause);
    case 'EACCES':
      return new Error(`port ${port} of ${host} may not be opened by this user; give a --port above 1023`, cause);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new Error(`${host} is no address of this machine (${code}); give another --host`, cause);
    default:
      return error;
  }
}

async function closeAll(app: FastifyInstance, engine: JobEngine, inspector: MediaInspector): Promise<void> {
  // Replies on their way are let go out; a client that does not read holds nobody up for long.
  const limit = setTimeout(() => app.server.closeAllConnections(), 5000);
  await app.close();
  clearTimeout(limit);
  inspector[Symbol.dispose]();
  await engine.close(0);
}

/** The device gets all cores but one, which answers clients. */
function workerOptions(settings: ServeSettings, config: EngineConfig): JsonObject {
  const { model, revision, threads, soundTokenizerPath } = settings;
  const cores = Math.max(1, availableParallelism() - 1);
  return {
    ...(model === undefined ? {} : { model }),
    ...(revision === undefined ? {} : { revision }),
    ...(soundTokenizerPath === null ? {} : { parts: { sound_tokenizer: soundTokenizerPath } }),
    threads: threads ?? config.threads ?? cores,
    ...deviceOptions(settings.deviceSettings),
    ...reuseOptions(settings.reuse),
    // What nobody has judged yet is shown to nobody.
    previewSteps: checksFrames(settings) ? 0 : settings.previewSteps,
    ...(checksFrames(settings) ? frameGuardOptions(settings.guard) : {}),
  };
}

function checksFrames({ guard }: ServeSettings): boolean {
  return guard.isEnabled && guard.framesUrl !== null;
}

async function waitUntilReady({ supervisor }: JobEngine, limitSeconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`the device is not ready after ${limitSeconds} s (--init-timeout)`)),
      limitSeconds * 1000,
    );
    timer.unref();
  });
  try {
    await Promise.race([supervisor.ready(), limit]);
  } finally {
    clearTimeout(timer);
  }
}

function addressOf(app: FastifyInstance): string {
  const address: AddressInfo | string | null = app.server.address();
  if (address === null || typeof address === 'string') return String(address);
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}
