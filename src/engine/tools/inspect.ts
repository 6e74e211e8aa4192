// What a checkpoint consists of: parts, tensors, sizes, and what does not fit the networks.
import { elementCount } from '../../backend/index.js';
import { loadNetworks } from '../checkpoint/load-networks.js';
import { type ModelOptions, openModel } from '../checkpoint/open-model.js';
import { type EngineConfig, readConfig } from '../config.js';
import { openDevice } from '../loader.js';

/** One tensor. */
export interface InspectedTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: string;
}

/** One part. */
export interface InspectedPart {
  readonly name: string;
  readonly className: string | null;
  readonly path: string;
  readonly bytes: number;
  readonly files: number;
  readonly parameters: number;
  /** Number of tensors by dtype. */
  readonly dtypes: Readonly<Record<string, number>>;
  readonly tensors: readonly InspectedTensor[];
}

/** A checkpoint. */
export interface Inspection {
  readonly path: string;
  readonly className: string | null;
  readonly family: string;
  readonly parts: readonly InspectedPart[];
  readonly parameters: number;
  readonly bytes: number;
  /** Weights and configuration keys that no network reads. */
  readonly unread: readonly string[];
  /** Why the networks cannot be read; null when they can. */
  readonly problem: string | null;
}

/**
 * Inspects a checkpoint.
 * @throws CheckpointError, ConfigError, HubError or TokenizerError when it cannot even be opened
 */
export async function inspectCheckpoint(
  options: ModelOptions,
  config: EngineConfig = readConfig(),
): Promise<Inspection> {
  const { checkpoint, facts } = await openModel(options, config);
  try {
    const parts = checkpoint.partNames.map((name): InspectedPart => {
      const part = checkpoint.part(name);
      const files = part.weightFiles();
      const table = files.length === 0 ? undefined : part.table();
      const tensors = (table?.names ?? []).map((tensor): InspectedTensor => {
        const info = table?.info(tensor);
        return { name: tensor, shape: info?.shape ?? [], dtype: info?.dtype ?? info?.fileDtype ?? 'unknown' };
      });
      const dtypes: Record<string, number> = {};
      for (const { dtype } of tensors) dtypes[dtype] = (dtypes[dtype] ?? 0) + 1;
      return {
        name,
        className: checkpoint.index.parts.get(name) ?? null,
        path: part.path,
        bytes: files.reduce((sum, { size }) => sum + size, 0),
        files: files.length,
        parameters: tensors.reduce((sum, { shape }) => sum + elementCount(shape), 0),
        dtypes,
        tensors,
      };
    });
    return {
      path: checkpoint.path,
      className: checkpoint.index.className ?? null,
      family: facts.family,
      parts,
      parameters: parts.reduce((sum, { parameters }) => sum + parameters, 0),
      bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
      ...(await findUnread(checkpoint)),
    };
  } finally {
    checkpoint[Symbol.dispose]();
  }
}

async function findUnread(
  checkpoint: Parameters<typeof loadNetworks>[0],
): Promise<Pick<Inspection, 'unread' | 'problem'>> {
  const { backend } = await openDevice('cpu', { threads: 1, blas: 'off' });
  try {
    return { unread: loadNetworks(checkpoint, backend).unread, problem: null };
  } catch (error) {
    return { unread: [], problem: error instanceof Error ? error.message : String(error) };
  } finally {
    await backend[Symbol.asyncDispose]();
  }
}
