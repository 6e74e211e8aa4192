// `orrery parity`: runs a folder of golden cases on a device and says, case by case, how close the engine comes.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Backend } from '../../../backend/index.js';
import type { CheckpointFacts } from '../../../pipeline/facts.js';
import type { Networks } from '../../../pipeline/networks.js';
import type { Tokenizer } from '../../../tokenizer/index.js';
import { type Checkpoint, openCheckpoint } from '../../../weights/index.js';
import { readCheckpointFacts } from '../../checkpoint/checkpoint-facts.js';
import { loadNetworks } from '../../checkpoint/load-networks.js';
import { runCase } from './case-run.js';
import { type CaseInfo, type GoldenFolder, openGoldenFolder } from './golden.js';
import { partCases, tokenizerCase } from './part-cases.js';
import { type Comparison, float32Tolerances, type Tolerances, tolerancesOf } from './tolerances.js';

export interface ParityOptions {
  /** Folder with cases.json, cases/ and media/. */
  readonly golden: string;
  /** Where the checkpoints that cases name lie; the golden folder itself when absent. */
  readonly checkpoints?: string;
  readonly backend: Backend;
  /** Instead of the table for the backend's dtype and the checkpoint's. */
  readonly tolerances?: Tolerances;
  /** Only these cases. */
  readonly only?: readonly string[];
}

/** One case's outcome. */
export interface ParityRow {
  readonly name: string;
  readonly passed: boolean;
  readonly compared: number;
  /** The first comparison that failed, in the order values arise. */
  readonly firstFailure: Comparison | null;
  /** Largest relative L2 of all comparisons that have one. */
  readonly worst: number;
  /** What stopped the case, where it did not run to its end. */
  readonly error: string | null;
}

/** Runs the cases one after another and yields each row as it is known. @throws Error when the folder holds no cases */
export async function* runParity(options: ParityOptions): AsyncGenerator<ParityRow, void> {
  const folder = openGoldenFolder(options.golden);
  const models = new Models(options.checkpoints ?? options.golden, options.backend);
  const wanted = (name: string) => !options.only || options.only.includes(name);
  const first = defaultCheckpoint(folder);
  const contextOf = (checkpoint: string) => {
    const model = models.of(checkpoint);
    const stored = model.storesFloat32 ? 'f32' : 'other';
    const tolerances = options.tolerances ?? tolerancesOf(options.backend.activationDtype, stored);
    return { folder, tolerances, ...model };
  };
  if (wanted('tokenizer') && folder.index._tokenizer)
    yield await row('tokenizer', async () => tokenizerCase(contextOf(first)));
  for (const [name, run] of Object.entries(partCases))
    if (wanted(name) && existsSync(join(folder.path, 'cases', `${name}.safetensors`)))
      yield await row(name, () => run(contextOf(first)));
  for (const name of folder.names.filter(wanted)) {
    yield await row(name, () => runCase(contextOf((folder.index[name] as CaseInfo).checkpoint), name));
  }
}

function defaultCheckpoint(folder: GoldenFolder): string {
  const [name] = folder.names;
  return name ? (folder.index[name] as CaseInfo).checkpoint : 'tiny-nano';
}

async function row(name: string, run: () => Promise<Comparison[]>): Promise<ParityRow> {
  try {
    const comparisons = await run();
    const firstFailure = comparisons.find(({ passed }) => !passed) ?? null;
    const worst = Math.max(0, ...comparisons.filter(({ boundary }) => isRelative(boundary)).map(({ value }) => value));
    const empty = comparisons.length === 0 ? 'nothing to compare' : null;
    return { name, passed: !firstFailure && !empty, compared: comparisons.length, firstFailure, worst, error: empty };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { name, passed: false, compared: 0, firstFailure: null, worst: Number.NaN, error: message };
  }
}

function isRelative(boundary: Comparison['boundary']): boolean {
  return float32Tolerances[boundary].measure === 'relative-l2';
}

interface Model {
  readonly networks: Networks;
  readonly tokenizer: Tokenizer;
  readonly checkpoint: CheckpointFacts;
  readonly useSystemPrompt: boolean;
  /** All weights of the transformer are float32 in its files. */
  readonly storesFloat32: boolean;
}

/** Checkpoints loaded once each. A checkpoint without an autoencoder or sound tokenizer shares those of tiny-nano. */
class Models {
  readonly #loaded = new Map<string, Model>();

  constructor(
    private readonly folder: string,
    private readonly backend: Backend,
  ) {}

  of(name: string): Model {
    const known = this.#loaded.get(name);
    if (known) return known;
    const checkpoint = openCheckpoint(join(this.folder, name), { parts: this.#sharedParts(name) });
    const model = this.#load(checkpoint, name);
    this.#loaded.set(name, model);
    return model;
  }

  #sharedParts(name: string): Record<string, string> {
    const missing = ['vae', 'sound_tokenizer'].filter((part) => !existsSync(join(this.folder, name, part)));
    return Object.fromEntries(missing.map((part) => [part, join(this.folder, 'tiny-nano', part)]));
  }

  #load(checkpoint: Checkpoint, name: string): Model {
    const { networks } = loadNetworks(checkpoint, this.backend);
    const facts = readCheckpointFacts(checkpoint, name);
    const table = checkpoint.part('transformer').table();
    return {
      networks,
      tokenizer: facts.tokenizer,
      checkpoint: facts,
      useSystemPrompt: checkpoint.index.defaultUseSystemPrompt ?? false,
      storesFloat32: table.names.every((weight) => table.info(weight)?.dtype === 'f32'),
    };
  }
}

/** The table's header and its rows as text. */
export function formatRow(row: ParityRow): string {
  const verdict = row.passed ? 'pass' : 'FAIL';
  const { firstFailure: f } = row;
  const detail =
    row.error ?? (f ? `first at ${f.name}: ${f.value.toExponential(2)} (limit ${f.limit.toExponential(0)})` : '');
  return `${row.name.padEnd(20)} ${verdict}  ${String(row.compared).padStart(4)}  ${row.worst.toExponential(2).padStart(9)}  ${detail}`.trimEnd();
}

export const tableHead = `${'case'.padEnd(20)}       ${'n'.padStart(4)}  ${'worst'.padStart(9)}  `.trimEnd();
