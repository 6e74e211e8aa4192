// What a checkpoint can do, in words that a server can hand out: tasks with their defaults, trained sizes, embodiments.
import { readFileSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { buckets, taskDefaults } from '../../pipeline/defaults.js';
import type { TaskDefaults } from '../../pipeline/facts.js';
import { domains } from '../../pipeline/plan/domains.js';
import { type Task, tasks } from '../../pipeline/request.js';
import type { OpenedModel } from '../checkpoint/open-model.js';
import { isRecord } from '../door/read-values.js';
import { packageRoot } from '../package-info.js';

export interface ModelDescription {
  /** Its name in plans. */
  readonly id: string;
  /** Folder or file. */
  readonly path: string;
  /** As the caller named it; null for the package's own. */
  readonly given: string | null;
  readonly family: 'nano' | 'edge';
  readonly tasks: readonly { readonly task: Task; readonly defaults: TaskDefaults }[];
  /** Sizes it was trained with, as `1280x720`, by tier. */
  readonly resolutions: Readonly<Record<string, readonly string[]>>;
  readonly sizeMultiple: number;
  readonly hasSound: boolean;
  readonly actions: {
    readonly maxDim: number;
    readonly domains: readonly {
      readonly id: number;
      readonly names: readonly string[];
      readonly rawDims: readonly number[];
    }[];
  } | null;
  /**
   * Prompts must be judged by a guard model before it may serve strangers. Not so for the package's own, and for those
   * that say `"orrery_guard": "blocklist"` in their model_index.json.
   */
  readonly needsGuardModel: boolean;
  /** `policy_server_config` of its config.json, as it stands there. */
  readonly policyServer: Readonly<Record<string, unknown>> | null;
}

/** Describes an opened checkpoint. */
export function describeModel({ checkpoint, facts, given }: OpenedModel): ModelDescription {
  const { id, family, hasSound, actionDim, distilledSigmas, spatialCompression } = facts;
  const isPossible = (task: Task) => {
    if (distilledSigmas !== null)
      return task === 'text-to-image' || task === 'text-to-video' || task === 'image-to-video';
    if (family === 'edge' && (task === 'video-to-video' || task === 'transfer')) return false;
    return actionDim !== null || !['policy', 'forward-dynamics', 'inverse-dynamics'].includes(task);
  };
  return {
    id,
    path: checkpoint.path,
    given,
    family,
    tasks: tasks.filter(isPossible).map((task) => ({ task, defaults: taskDefaults(task, facts) })),
    resolutions: Object.fromEntries(
      Object.entries(buckets).map(([tier, sizes]) => [tier, sizes.map(({ width, height }) => `${width}x${height}`)]),
    ),
    sizeMultiple: spatialCompression,
    hasSound,
    actions:
      actionDim === null ? null : { maxDim: actionDim, domains: domains.filter((domain) => domain.id < facts.domains) },
    needsGuardModel:
      given !== null &&
      !isOwn(checkpoint.path) &&
      readMember(checkpoint.path, 'model_index.json', 'orrery_guard') !== 'blocklist',
    policyServer: readPolicyServer(checkpoint.path),
  };
}

/** Whether a checkpoint lies in the package: those make toys. */
function isOwn(path: string): boolean {
  return [['checkpoints'], ['test', 'golden', 'data']].some((parts) => {
    const inside = relative(join(packageRoot(), ...parts), resolve(path));
    return inside !== '' && !inside.startsWith('..') && !isAbsolute(inside);
  });
}

function readPolicyServer(folder: string): Readonly<Record<string, unknown>> | null {
  const found = readMember(folder, 'config.json', 'policy_server_config');
  return isRecord(found) ? found : null;
}

/** A member of a JSON file of the checkpoint; undefined where there is none. */
function readMember(folder: string, file: string, member: string): unknown {
  try {
    const content: unknown = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    return isRecord(content) ? content[member] : undefined;
  } catch {
    return undefined;
  }
}
