// Whether a clip shows what a toy scene's caption says.
import type { RgbClip } from '../../../src/media/index.js';
import { meanColor, nearestColor, nearestShape } from '../measures/look.js';
import {
  directionOf,
  followColor,
  followObject,
  goesUpAndDown,
  runsBetweenWalls,
  turnAround,
} from '../measures/motion.js';
import { findObject, maskColor, measureMask } from '../measures/objects.js';
import { type Color, colors, type Shape } from '../scenes/scene.js';
import type { Toy, ToyScene } from '../scenes/toys.js';

/** Colour and shape of the object in a frame; null where there is none. */
export function lookAt(clip: RgbClip, frame: number): { readonly color: Color; readonly shape: Shape } | null {
  const object = findObject(clip, frame);
  if (object === null) return null;
  return { color: nearestColor(meanColor(clip, frame, object.mask)), shape: nearestShape(object.mask) };
}

/** Whether the one object of a clip moves as its scene does. */
export function movesRight(clip: RgbClip, scene: ToyScene): boolean {
  const [toy] = scene.toys as readonly [Toy];
  if (scene.motion === 'pair')
    return scene.toys.every(({ color, direction }) => directionOf(followColor(clip, colors[color])) === direction);
  if (scene.motion === 'collide') return collides(clip, scene.toys);
  const path = followObject(clip);
  const areas = path.map((blob) => blob?.area ?? 0);
  const ratio = (areas.at(-1) as number) / Math.max(areas[0] as number, 1);
  switch (scene.motion) {
    case 'straight':
      return directionOf(path) === toy.direction;
    case 'bounce':
      return goesUpAndDown(path, clip.height);
    case 'walls':
      return runsBetweenWalls(path, 0.007 * clip.width);
    case 'orbit': {
      const angle = turnAround(path, clip.width / 2, clip.height / 2);
      return Math.abs(angle) > 1.5 && angle > 0 === (scene.spin === 'clockwise');
    }
    case 'grow':
      return ratio > 2;
    case 'shrink':
      return ratio < 0.5;
    default:
      return scene.motion satisfies never;
  }
}

/** Both come nearer and part again. */
function collides(clip: RgbClip, toys: readonly Toy[]): boolean {
  const [a, b] = toys.map(({ color }) => followColor(clip, colors[color])) as [
    ReturnType<typeof followColor>,
    ReturnType<typeof followColor>,
  ];
  const gaps = a.flatMap((blob, frame) => {
    const other = b[frame];
    return blob && other ? [Math.hypot(blob.x - other.x, blob.y - other.y)] : [];
  });
  if (gaps.length < clip.frames / 2) return false;
  const least = Math.min(...gaps);
  return (gaps[0] as number) > least * 1.2 && (gaps.at(-1) as number) > least * 1.2;
}

/** Colours (and for one toy its shape) as the scene has them in the middle of the clip. */
export function looksRight(clip: RgbClip, { toys }: ToyScene): boolean {
  const middle = Math.floor(clip.frames / 2);
  if (toys.length > 1) return toys.every(({ color }) => measureMask(maskColor(clip, middle, colors[color])).area > 60);
  const look = lookAt(clip, middle);
  return look?.color === toys[0]?.color && look?.shape === toys[0]?.shape;
}
