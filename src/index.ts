// The package: generate clips, pictures, sound and actions with Cosmos3 world models.
export {
  type ActionResult,
  type Artifact,
  type Comparison,
  compareWithOriginal,
  type Fingerprint,
  type GenerateOptions,
  type Generation,
  type LibraryRequest,
  type LoadOptions,
  type MediaInput,
  type Original,
  Orrery,
  type OutputFile,
  type Planned,
  type ProgressEvent,
  type PromptForm,
  type Provenance,
  type RepeatOptions,
  type RequestInput,
  readOriginal,
} from './engine/index.js';
export { RequestError } from './protocol/index.js';
