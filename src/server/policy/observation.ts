// What a robot sees and where it is: camera pictures, joints and gripper out of an observation. Source: api spec, 3.5.
import { decodeImage, type RgbImage } from '../../media/index.js';
import { RequestError, showValue } from '../../protocol/index.js';
import { isRecord } from '../bodies/json-text.js';
import { type ActionSpace, stateRow } from './action-space.js';
import { composeViews } from './composite.js';
import { NdArray, readTensor } from './nd-array.js';

type Named = Readonly<Record<string, unknown>>;

/** Members by their names; those of an inner `observation` object stand beside the others as `observation/NAME`. */
export function flattenObservation(value: unknown): Named {
  if (!isRecord(value)) {
    throw new RequestError(
      'invalid_value',
      'robot_obs',
      `robot_obs must be an object, got ${showValue(value ?? null)}`,
    );
  }
  const { observation, ...rest } = value;
  const inner = isRecord(observation) ? observation : {};
  return {
    ...Object.fromEntries(Object.entries(inner).map(([name, member]) => [`observation/${name}`, member])),
    ...rest,
  };
}

/** The prompt of an observation. @throws RequestError when there is none */
export function readPrompt(observation: Named): string {
  const { prompt } = observation;
  if (typeof prompt === 'string' && prompt.trim() !== '') return prompt;
  throw new RequestError('missing_parameter', 'prompt', 'prompt is missing: say in words what the robot is to do');
}

/**
 * The picture of an observation: `observation/image`, or the three cameras laid out as in training.
 * @throws RequestError naming the camera that is missing or malformed
 */
export async function readPicture(observation: Named): Promise<RgbImage> {
  const single = observation['observation/image'];
  if (single !== undefined && single !== null) return readCamera('observation/image', single);
  const camera = (name: string) => readCamera(`observation/${name}`, observation[`observation/${name}`]);
  return composeViews({
    wrist: await camera('wrist_image_left'),
    left: await camera('exterior_image_1_left'),
    right: await camera('exterior_image_2_left'),
  });
}

const mostPixels = 16_000_000;

async function readCamera(name: string, value: unknown): Promise<RgbImage> {
  if (value === undefined || value === null) {
    throw new RequestError(
      'missing_parameter',
      name,
      `${name} is missing: give observation/image, or wrist_image_left, exterior_image_1_left and exterior_image_2_left`,
    );
  }
  if (typeof value === 'string') return readEncoded(name, value);
  const fail = (why: string): never => {
    throw new RequestError('invalid_value', name, `${name} must be uint8 [H, W, 3], ${why}`);
  };
  if (value instanceof NdArray && value.dtype.slice(1) !== 'u1') fail(`got dtype ${value.dtype}`);
  const shape = value instanceof NdArray ? value.shape : readTensor(name, value).shape;
  const [height = 0, width = 0, channels] = shape.length === 4 && shape[0] === 1 ? shape.slice(1) : shape;
  if (channels !== 3 || height < 2 || width < 2 || height * width > mostPixels)
    fail(`got shape ${JSON.stringify(shape)}`);
  if (value instanceof NdArray) {
    if (value.data.length !== height * width * 3) fail(`its ${value.data.length} bytes do not fit its shape`);
    return { width, height, data: new Uint8Array(value.data) };
  }
  const { numbers } = readTensor(name, value);
  if (!numbers.every((item) => Number.isInteger(item) && item >= 0 && item <= 255))
    fail('its values are whole numbers to 255');
  return { width, height, data: Uint8Array.from(numbers) };
}

async function readEncoded(name: string, text: string): Promise<RgbImage> {
  const base64 = text.replace(/^data:[^,]*,/i, '');
  try {
    return await decodeImage(Buffer.from(base64, 'base64'), { maxPixels: mostPixels });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new RequestError('invalid_media', name, `${name} is no picture: ${why}`);
  }
}

/**
 * The robot's state as rows of the model, the last `count` of those given.
 * @throws RequestError naming what is missing or malformed
 */
export function readStateRows(observation: Named, space: ActionSpace, count: number): readonly (readonly number[])[] {
  const poses =
    space === 'joint_pos'
      ? readRows(observation, 'joint_position', 7)
      : joinRows(readRows(observation, 'eef_pos', 3), readRows(observation, 'eef_quat', 4));
  const grippers = readRows(observation, 'gripper_position', 1);
  if (grippers.length !== poses.length && grippers.length !== 1) {
    throw new RequestError(
      'invalid_value',
      'observation/gripper_position',
      `observation/gripper_position has ${grippers.length} rows, the pose has ${poses.length}`,
    );
  }
  const rows = poses.map((pose, i) => stateRow(space, pose, (grippers[i] ?? grippers[0])?.[0] ?? 0));
  if (rows.length < count) {
    throw new RequestError(
      'invalid_value',
      'history_length',
      `history_length is ${count}, the observation has ${rows.length} rows`,
    );
  }
  return rows.slice(rows.length - count);
}

function joinRows(
  a: readonly (readonly number[])[],
  b: readonly (readonly number[])[],
): readonly (readonly number[])[] {
  if (a.length === b.length) return a.map((row, i) => [...row, ...(b[i] ?? [])]);
  throw new RequestError(
    'invalid_value',
    'observation/eef_quat',
    `observation/eef_quat has ${b.length} rows, eef_pos ${a.length}`,
  );
}

/** `[width]`, `[T, width]`, or for a width of 1 also `[T]` and a number. */
function readRows(observation: Named, member: string, width: number): readonly (readonly number[])[] {
  const name = `observation/${member}`;
  const value = observation[name];
  if (value === undefined || value === null) throw new RequestError('missing_parameter', name, `${name} is missing`);
  const { shape, numbers } = readTensor(name, value);
  const last = shape.at(-1) ?? 1;
  const fits = width === 1 ? shape.length < 2 || last === 1 : last === width && shape.length > 0;
  if (!fits || shape.length > 2 || numbers.length === 0 || !numbers.every(Number.isFinite)) {
    throw new RequestError(
      'invalid_value',
      name,
      `${name} must be finite numbers [${width}] or [T, ${width}], got shape ${JSON.stringify(shape)}`,
    );
  }
  return Array.from({ length: numbers.length / width }, (_, row) => numbers.slice(row * width, (row + 1) * width));
}
