// Robot embodiments: the domains whose action weights a checkpoint carries. Source: api spec, 3.4.
import type { ActionRequest } from '../request.js';
import { refuse, wholeNumber } from './ranges.js';

interface Domain {
  readonly id: number;
  readonly names: readonly string[];
  /** Numbers per action; empty where datasets differ. */
  readonly rawDims: readonly number[];
}

const domain = (id: number, names: readonly string[], ...rawDims: number[]): Domain => ({ id, names, rawDims });

export const domains: readonly Domain[] = [
  domain(0, ['no_action']),
  domain(1, ['av'], 9),
  domain(2, ['camera_pose'], 9),
  domain(3, ['hand_pose']),
  domain(4, ['pusht'], 2),
  domain(5, ['libero']),
  domain(6, ['umi'], 10),
  domain(7, ['bridge_orig_lerobot'], 10),
  domain(8, ['droid_lerobot'], 10, 8),
  domain(8, ['robomind-franka'], 10),
  domain(9, ['embodiment_b', 'galbot'], 30),
  domain(12, ['robomind-franka-dual'], 20),
  domain(13, ['robomind-ur'], 10),
  domain(
    15,
    [
      'agibotworld',
      'embodiment_c_gripper',
      'embodiment_c_gripper_ext',
      'agibot_gear_gripper',
      'agibot_gear_gripper_ext',
    ],
    29,
  ),
  domain(16, ['xdof_yam', 'molmoact2_yam', 'abc_yam'], 20),
  domain(20, ['fractal'], 10),
  domain(21, ['drawanything'], 3),
  domain(22, ['behavior1k_lerobot'], 23),
  domain(23, ['maniparena'], 20),
];

export interface ChosenDomain {
  readonly id: number;
  /** As the caller named it, in lower case; "domain 7" where only the number was given. */
  readonly name: string;
  readonly rawDims: readonly number[];
}

/**
 * The domain a request names; the number wins over the name.
 * @param count Domains the checkpoint has weights for.
 * @throws RequestError for none, an unknown name (the known ones are listed) or a number out of range
 */
export function chooseDomain({ domainId, domainName }: ActionRequest, count: number): ChosenDomain {
  if (domainId !== undefined) {
    const id = wholeNumber('domain_id', domainId, 0, count - 1);
    const rawDims = domains.filter((entry) => entry.id === id).flatMap((entry) => entry.rawDims);
    return { id, name: `domain ${id}`, rawDims };
  }
  const name = domainName?.trim().toLowerCase() ?? '';
  const known = domains.flatMap(({ names }) => names).join(', ');
  if (name === '')
    refuse(
      'missing_parameter',
      'domain_name',
      `Cosmos3 action generation requires extra_args['domain_id'] or non-empty extra_args['domain_name']. Give one of ${known}`,
    );
  const found = domains.find(({ names }) => names.includes(name));
  if (!found)
    return refuse('invalid_value', 'domain_name', `domain_name '${domainName}' is unknown; expected one of ${known}`);
  wholeNumber('domain_id', found.id, 0, count - 1);
  return { id: found.id, name, rawDims: found.rawDims };
}
