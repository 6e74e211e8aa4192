// Words for toy scenes: the wordings of the training program, and some it never used.
import type { Random } from './random.js';
import type { Toy, ToyScene } from './toys.js';

const ways = {
  right: ['to the right', 'from left to right', 'rightwards'],
  left: ['to the left', 'from right to left', 'leftwards'],
  up: ['up', 'upwards', 'to the top'],
  down: ['down', 'downwards', 'to the bottom'],
} as const;

const motionWords = {
  bounce: ['bounces up and down', 'bounces on the floor'],
  walls: ['bounces between the walls', 'bounces off the walls'],
  orbit: ['circles around the centre {spin}', 'moves in a circle {spin}'],
  grow: ['grows', 'gets bigger', 'becomes larger'],
  shrink: ['shrinks', 'gets smaller', 'becomes smaller'],
  collide: ['collide', 'bump into each other'],
} as const;

const withArticle = (words: string) => `${/^[aeiou]/.test(words) ? 'an' : 'a'} ${words}`;
export const nameOf = ({ color, shape }: Toy): string => `${color} ${shape}`;

/** What a toy does, without its speed. */
function actionOf(random: Random, scene: ToyScene, toy: Toy): string {
  const { motion, spin } = scene;
  if (motion !== 'straight' && motion !== 'pair') return random.pick(motionWords[motion]).replace('{spin}', spin);
  const rolls = (toy.shape === 'ball' || toy.shape === 'ring') && random.chance(0.4);
  const verb = rolls ? 'rolls' : random.pick(['moves', 'glides', 'slides', 'travels', 'goes']);
  return `${verb} ${random.pick(ways[toy.direction])}`;
}

/** A caption of a scene in plain words; the speed is always said. */
export function describeClip(random: Random, scene: ToyScene): string {
  const { toys, ground, speed, motion } = scene;
  const subjects = toys.map((toy) => withArticle(nameOf(toy)));
  const core =
    motion === 'pair'
      ? toys.map((toy, i) => `${subjects[i]} ${actionOf(random, scene, toy)}`).join(' and ')
      : `${subjects.join(' and ')} ${actionOf(random, scene, toys[0] as Toy)}`;
  const text = `${core} ${speed}`;
  return capital(
    random.pick([
      `${text} on a ${ground} background.`,
      `${text}. The background is ${ground}.`,
      `${text} in front of a ${ground} background.`,
    ]),
  );
}

/** A caption of a still. */
export function describePicture(random: Random, { toys, ground }: ToyScene): string {
  const subject = toys.map((toy) => withArticle(nameOf(toy))).join(' and ');
  return capital(
    random.pick([
      `${subject} on a ${ground} background.`,
      `a picture of ${subject} on a ${ground} background.`,
      `${subject}, ${ground} background.`,
    ]),
  );
}

/** A caption as JSON. */
export function describeAsJson(random: Random, scene: ToyScene): string {
  const toy = scene.toys[0] as Toy;
  return JSON.stringify({
    subject: withArticle(nameOf(toy)),
    action: actionOf(random, scene, toy),
    speed: scene.speed,
    background: scene.ground,
  });
}

function capital(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
