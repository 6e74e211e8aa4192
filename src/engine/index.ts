// The engine's door: a running process that loads, plans, generates and keeps artifacts.
export type { Plan, PlanWarning } from '../pipeline/plan-types.js';
export { type EngineConfig, readConfig } from './config.js';
export type { LibraryRequest, MediaInput, PromptForm } from './door/library/prompt-form.js';
export { readMediaReference } from './door/media-reference.js';
export { type ReadRequest, readRequest, type WireRequest } from './door/read-request.js';
export type { LoadOptions, OpenDevice } from './load-options.js';
export { deviceNames } from './loader.js';
export { type GenerateOptions, Orrery, type Planned, type RequestInput } from './orrery.js';
export type { ActionResult } from './outputs/action-result.js';
export { type ControlPaths, computedControls } from './outputs/control-files.js';
export type { OutputFile } from './outputs/output-files.js';
export { fittingKinds, type OutputKind, readOutputTargets } from './outputs/output-target.js';
export { packageRoot, packageVersion } from './package-info.js';
export type { Fingerprint } from './provenance/fingerprint.js';
export type { Provenance } from './provenance/provenance.js';
export {
  type Comparison,
  compareWithOriginal,
  type Original,
  type RepeatOptions,
  readOriginal,
} from './provenance/repeat.js';
export type { Artifact, ProgressEvent } from './run/events.js';
export type { Generation } from './run/generation.js';
export { openPromptGuard } from './safety/prompt-guard.js';
export type { PipelineBench } from './tools/bench/bench-report.js';
export { describeBench } from './tools/bench/describe-bench.js';
export { type Bench, type BenchOptions, benchMachine } from './tools/bench/machine-bench.js';
export { benchPipeline, type PipelineBenchOptions } from './tools/bench/pipeline-bench.js';
export { examineMachine, type Finding } from './tools/doctor.js';
export { formatBytes } from './tools/format-bytes.js';
export { type Inspection, inspectCheckpoint } from './tools/inspect.js';
export { openParity, type ParityRequest } from './tools/open-parity.js';
export { formatRow, type ParityRow, tableHead } from './tools/parity/parity.js';
export { type PullRequest, pullCheckpoint } from './tools/pull.js';
export { describeQuality } from './tools/quality/describe-quality.js';
export { openQuality, openReuseQuality, type QualityOptions } from './tools/quality/open-quality.js';
export type { Quality } from './tools/quality/quality.js';
export { describeReuse } from './tools/quality/reuse/measure-reuse.js';
