// Robot states and actions between the robot's words and the model's rows. Source: api spec, 3.4 and 3.5.
import { RequestError, showValue } from '../../protocol/index.js';

/** `joint_pos`: seven joints and the gripper. `midtrain`: position, first two rotation columns and the gripper. */
export type ActionSpace = 'joint_pos' | 'midtrain';

const spaces: Readonly<Record<string, ActionSpace>> = {
  joint_pos: 'joint_pos',
  jointpos: 'joint_pos',
  joint_position: 'joint_pos',
  midtrain: 'midtrain',
  abs_ik: 'midtrain',
};

/** The action space of that name. @throws RequestError for an unknown one */
export function readActionSpace(value: unknown): ActionSpace {
  const space = typeof value === 'string' && Object.hasOwn(spaces, value) ? spaces[value] : undefined;
  if (space !== undefined) return space;
  throw new RequestError(
    'invalid_value',
    'action_space',
    `action_space must be one of ${Object.keys(spaces).join(', ')}, got ${showValue(value)}`,
  );
}

/** Numbers of a row. */
export const rowWidth: Readonly<Record<ActionSpace, number>> = { joint_pos: 8, midtrain: 10 };

/** Whether the model's gripper runs the other way: 1 is open for the robot, 0 for the model. */
const invert = (gripper: number): number => 1 - gripper;

type Row = readonly number[];

/** The first two columns of the rotation that a unit quaternion (x, y, z, w) stands for, one after the other. */
export function quaternionToColumns(quaternion: Row): Row {
  const [qx = 0, qy = 0, qz = 0, qw = 1] = quaternion;
  const length = Math.hypot(qx, qy, qz, qw) || 1;
  const [x, y, z, w] = [qx / length, qy / length, qz / length, qw / length];
  return [
    1 - 2 * (y * y + z * z),
    2 * (x * y + z * w),
    2 * (x * z - y * w),
    2 * (x * y - z * w),
    1 - 2 * (x * x + z * z),
    2 * (y * z + x * w),
  ];
}

/** The unit quaternion (x, y, z, w), w not negative, of the rotation nearest to two given columns (Gram-Schmidt). */
export function columnsToQuaternion(columns: Row): Row {
  const [a0 = 1, a1 = 0, a2 = 0, b0 = 0, b1 = 1, b2 = 0] = columns;
  const lengthA = Math.hypot(a0, a1, a2) || 1;
  const [x0, x1, x2] = [a0 / lengthA, a1 / lengthA, a2 / lengthA];
  const along = x0 * b0 + x1 * b1 + x2 * b2;
  const [c0, c1, c2] = [b0 - along * x0, b1 - along * x1, b2 - along * x2];
  const lengthC = Math.hypot(c0, c1, c2) || 1;
  const [y0, y1, y2] = [c0 / lengthC, c1 / lengthC, c2 / lengthC];
  const [z0, z1, z2] = [x1 * y2 - x2 * y1, x2 * y0 - x0 * y2, x0 * y1 - x1 * y0];
  // The largest of the four components is taken from the diagonal, the others from sums and differences.
  const squares = [1 + x0 - y1 - z2, 1 - x0 + y1 - z2, 1 - x0 - y1 + z2, 1 + x0 + y1 + z2];
  const most = squares.indexOf(Math.max(...squares));
  const candidates = [
    [squares[0] ?? 0, x1 + y0, x2 + z0, y2 - z1],
    [x1 + y0, squares[1] ?? 0, y2 + z1, z0 - x2],
    [x2 + z0, y2 + z1, squares[2] ?? 0, x1 - y0],
    [y2 - z1, z0 - x2, x1 - y0, squares[3] ?? 0],
  ];
  const found = candidates[most] ?? [0, 0, 0, 1];
  const length = Math.hypot(...found) * ((found[3] ?? 1) < 0 ? -1 : 1);
  return found.map((component) => component / length);
}

/** A robot's state as a row of the model. */
export function stateRow(space: ActionSpace, pose: Row, gripper: number): Row {
  switch (space) {
    case 'joint_pos':
      return [...pose, invert(gripper)];
    case 'midtrain':
      return [...pose.slice(0, 3), ...quaternionToColumns(pose.slice(3)), invert(gripper)];
    default:
      return space satisfies never;
  }
}

/** A row of the model as an action of the robot: joints and gripper, or position, quaternion (x, y, z, w) and gripper. */
export function robotAction(space: ActionSpace, row: Row): Row {
  const last = row.length - 1;
  const gripper = invert(row[last] ?? 0);
  switch (space) {
    case 'joint_pos':
      return [...row.slice(0, last), gripper];
    case 'midtrain':
      return [...row.slice(0, 3), ...columnsToQuaternion(row.slice(3, 9)), gripper];
    default:
      return space satisfies never;
  }
}
