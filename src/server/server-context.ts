// What the routes need: the engine's parts, the checks, the settings. Made once, by serve.ts.
import type { ContentTokens } from '../engine/artifacts/content-tokens.js';
import type { ArtifactStore, JobEvents, JobQueue, Supervisor, UploadStore } from '../engine/jobs/types.js';
import type { Planner } from '../engine/planner/planner.js';
import type { PromptGuard } from './guard/prompt-guard.js';
import type { MediaInspector } from './inputs/media-inspector.js';
import type { Metrics } from './operation/metrics.js';
import type { Tracing } from './operation/tracing.js';
import type { ServeSettings } from './options/settings.js';
import type { Forecast } from './planning/forecast.js';

/** The engine as a server sees it. Everything behind these interfaces may live in other processes. */
export interface ServerEngine {
  readonly planner: Planner;
  readonly queue: JobQueue;
  readonly artifacts: ArtifactStore;
  readonly uploads: UploadStore;
  readonly events: JobEvents;
  readonly supervisor: Supervisor;
}

/** Everything a route may use. */
export interface ServerContext extends ServerEngine {
  readonly forecast: Forecast;
  readonly settings: ServeSettings;
  /** Names that the model answers to, the first one shown. */
  readonly modelNames: readonly [string, ...string[]];
  readonly guard: PromptGuard;
  readonly inspector: MediaInspector;
  readonly tokens: ContentTokens;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  /** Unix seconds at which the server began. */
  readonly startedAt: number;
  /** Set while the server shuts down: it takes no further jobs. */
  readonly isDraining: () => boolean;
  /** Aborts when the server ends: whoever still waits is told, open streams are closed. */
  readonly ending: AbortSignal;
}
