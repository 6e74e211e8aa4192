// A policy request in robot's words -> a generation request in wire words. Source: api spec, 3.5.
import { droidPolicy } from '../../engine/planner/droid-policy.js';
import { encodeImage } from '../../media/index.js';
import { RequestError, showValue } from '../../protocol/index.js';
import type { WantedInput } from '../inputs/wanted-input.js';
import { type ActionSpace, readActionSpace, rowWidth } from './action-space.js';
import { fitTo } from './composite.js';
import { flattenObservation, readPicture, readPrompt, readStateRows } from './observation.js';

type Named = Readonly<Record<string, unknown>>;

/** A policy request for the door. */
export interface PolicyParams {
  /** Extra parameters; `action_space` among them says how the result is to be read. */
  readonly params: Named;
  readonly wanted: readonly WantedInput[];
  readonly ignored: readonly string[];
}

/** Names that only the policy knows; everything else goes to the door as it is. */
const policyNames = [
  'robot_obs',
  'observation',
  'action_space',
  'history_length',
  'conditioning_fps',
  'use_state',
  'image_height',
  'image_width',
  'deterministic_seed',
  'robolab_seed',
  'session_id',
  'reset',
];

/** Whether extra parameters hold an observation of a robot. */
export function asksForPolicy(params: Named): boolean {
  return (params.robot_obs ?? params.observation ?? null) !== null;
}

/**
 * Reads a policy request.
 * @param params extra parameters with `robot_obs` or `observation`
 * @throws RequestError naming the member at fault
 */
export function readPolicyParams(params: Named): PolicyParams {
  const robot = params.robot_obs ?? { observation: params.observation, prompt: params.prompt };
  const observation = flattenObservation(robot);
  const space = readActionSpace(params.action_space ?? 'joint_pos');
  const chunk = count(params, 'action_chunk_size', droidPolicy.chunk, 1);
  const history = isOff(params.use_state) ? 0 : count(params, 'history_length', droidPolicy.historyRows, 0);
  const rows = history === 0 ? [] : readStateRows(observation, space, history);
  const height = count(params, 'image_height', droidPolicy.image.height, 16);
  const width = count(params, 'image_width', droidPolicy.image.width, 16);
  const given = Object.fromEntries(Object.entries(params).filter(([name]) => !policyNames.includes(name)));
  return {
    params: {
      ...defaultParams(space),
      num_frames: history === 0 ? chunk + 1 : chunk + history,
      fps: params.conditioning_fps ?? droidPolicy.fps,
      seed: droidPolicy.seed,
      prompt: readPrompt(observation),
      ...given,
      ...(isOff(params.deterministic_seed ?? false) ? {} : { seed: params.robolab_seed ?? 0 }),
      action_mode: 'policy',
      actions_only: true,
      action_space: space,
      action_chunk_size: chunk,
      ...(rows.length === 0 ? {} : { action_history: rows }),
    },
    wanted: [
      {
        role: 'image',
        name: 'observation/image',
        source: {
          kind: 'picture',
          make: async () => encodeImage(fitTo(await readPicture(observation), width, height), { format: 'png' }),
        },
      },
    ],
    ignored: [],
  };
}

function defaultParams(space: ActionSpace): Named {
  return {
    domain_name: droidPolicy.domainName,
    raw_action_dim: rowWidth[space],
    view_point: droidPolicy.viewPoint,
    resolution: droidPolicy.resolution,
    num_inference_steps: droidPolicy.steps,
    guidance_scale: droidPolicy.guidance,
    flow_shift: droidPolicy.flowShift,
    format_prompt_as_json: droidPolicy.promptAsJson,
    use_duration_template: droidPolicy.useDurationTemplate,
    use_resolution_template: droidPolicy.useResolutionTemplate,
    negative_metadata_mode: droidPolicy.negativeMetadataMode,
  };
}

function isOff(value: unknown): boolean {
  return value === false || value === 0 || (typeof value === 'string' && /^(0|false|no|off)$/i.test(value));
}

function count(params: Named, name: string, fallback: number, least: number): number {
  const value = params[name];
  if (value === undefined || value === null) return fallback;
  const whole = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof whole === 'number' && Number.isInteger(whole) && whole >= least && whole <= 4096) return whole;
  throw new RequestError(
    'invalid_value',
    name,
    `${name} must be a whole number from ${least} to 4096, got ${showValue(value)}`,
  );
}
