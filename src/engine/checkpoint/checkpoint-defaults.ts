// `orrery_defaults` of a checkpoint's model_index.json: what its tasks do where a request is silent.
import Type from 'typebox';
import Value from 'typebox/value';
import type { TaskDefaults } from '../../pipeline/facts.js';
import { type Task, tasks } from '../../pipeline/request.js';
import { CheckpointError } from '../../weights/index.js';

/** Defaults by task; each field of each task may be absent. */
export type CheckpointDefaults = { readonly [task in Task]?: Partial<TaskDefaults> };

const row = Type.Object(
  {
    size: Type.Optional(Type.String({ pattern: '^[1-9][0-9]*x[1-9][0-9]*$' })),
    width: Type.Optional(Type.Integer({ minimum: 1 })),
    height: Type.Optional(Type.Integer({ minimum: 1 })),
    frames: Type.Optional(Type.Integer({ minimum: 1 })),
    fps: Type.Optional(Type.Number({ minimum: 1 })),
    steps: Type.Optional(Type.Integer({ minimum: 1 })),
    guidance: Type.Optional(Type.Number({ minimum: 0 })),
    flow_shift: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    guidance_interval: Type.Optional(Type.Union([Type.Tuple([Type.Number(), Type.Number()]), Type.Null()])),
  },
  { additionalProperties: false },
);

const shape = Type.Record(Type.String(), row);

/**
 * Reads the defaults: an object by task (`text-to-video`), its members `size` or `width` and `height`, `frames`, `fps`, `steps`,
 * `guidance`, `flow_shift`, `guidance_interval`.
 * @param value the member as it stands in the file; undefined where there is none
 * @throws CheckpointError naming the member that does not fit
 */
export function readCheckpointDefaults(value: unknown, file: string): CheckpointDefaults {
  if (value === undefined || value === null) return {};
  const fail = (what: string): never => {
    throw new CheckpointError(file, `orrery_defaults ${what}`, 'correct it, or leave it out');
  };
  if (!Value.Check(shape, value)) {
    const [first] = Value.Errors(shape, value);
    return fail(first === undefined ? 'is malformed' : `${first.instancePath || '/'} ${first.message}`);
  }
  const defaults: { [task in Task]?: Partial<TaskDefaults> } = {};
  for (const [name, { size, flow_shift: flowShift, guidance_interval: guidanceInterval, ...rest }] of Object.entries(
    value,
  )) {
    const task = tasks.find((candidate) => candidate === name.replaceAll('_', '-'));
    if (task === undefined) return fail(`has a task ${name}; there are ${tasks.join(', ')}`);
    const [width, height] = size?.split('x').map(Number) ?? [];
    defaults[task] = {
      ...(width === undefined || height === undefined ? {} : { width, height }),
      ...rest,
      ...(flowShift === undefined ? {} : { flowShift }),
      ...(guidanceInterval === undefined ? {} : { guidanceInterval }),
    };
  }
  return defaults;
}
