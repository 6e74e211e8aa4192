// Scenes seen from a car on a straight road that drives and turns; coloured posts stand at its sides (av).
import type { RobotScene } from './arms.js';
import type { Random } from './random.js';
import { type Camera, colorNames, colors, framesPerSecond, primitive, track } from './scene.js';

/** Focal length in widths, eye height in metres, horizon in heights. */
export const optics = { focal: 0.6, eye: 1.6, horizon: 0.42 } as const;

const [width, height] = [320, 192];

/** A post on the ground as it is seen: tracks of screen x, y of its foot and pixels a metre (0 where it is behind). */
function seen(camera: Camera, x: number, z: number, frames: number) {
  const view = (frame: number) => {
    const [dx, dz] = [x - (camera.x[frame] as number), z - (camera.z[frame] as number)];
    const heading = camera.heading[frame] as number;
    const right = dx * Math.cos(heading) - dz * Math.sin(heading);
    const ahead = dx * Math.sin(heading) + dz * Math.cos(heading);
    const scale = ahead < 1.5 ? 0 : (optics.focal * width) / ahead;
    return {
      px: scale === 0 ? -1e4 : width / 2 + right * scale,
      foot: optics.horizon * height + optics.eye * scale,
      scale,
    };
  };
  return {
    x: track(frames, (frame) => view(frame).px),
    y: track(frames, (frame) => view(frame).foot - 1.25 * view(frame).scale),
    halfWidth: track(frames, (frame) => Math.max(0.35 * view(frame).scale, 0.1)),
    halfHeight: track(frames, (frame) => Math.max(1.25 * view(frame).scale, 0.1)),
  };
}

export function drawDriveScene(random: Random, frames = 25): RobotScene {
  const isFast = random.chance(0.5);
  const turn = random.pick(['straight', 'left', 'right'] as const);
  const share = (frame: number) => frame / (frames - 2);
  const [base, change] = [isFast ? random.uniform(13, 20) : random.uniform(4, 9), random.uniform(-2, 2)];
  const bend =
    turn === 'straight' ? random.uniform(-0.03, 0.03) : random.uniform(0.2, 0.45) * (turn === 'left' ? -1 : 1);
  const more = random.uniform(-0.4, 0.3);
  const speed = (frame: number) => base + change * share(frame);
  const rate = (frame: number) => bend * (1 + more * share(frame));
  const camera: Camera = { x: track(frames, 0), z: track(frames, 0), heading: track(frames, 0) };
  [camera.x[0], camera.z[0], camera.heading[0]] = [
    random.uniform(-1.5, 1.5),
    random.uniform(0, 8),
    random.uniform(-0.1, 0.1),
  ];
  for (let frame = 1; frame < frames; frame++) {
    const heading = (camera.heading[frame - 1] as number) + rate(frame - 1) / framesPerSecond;
    const way = speed(frame - 1) / framesPerSecond;
    camera.x[frame] = (camera.x[frame - 1] as number) + Math.sin(heading) * way;
    camera.z[frame] = (camera.z[frame - 1] as number) + Math.cos(heading) * way;
    camera.heading[frame] = heading;
  }
  const spots = Array.from({ length: 7 }, (_, i) => ({
    z: (camera.z[0] as number) + 9 + 9 * i + random.uniform(-2, 2),
    x: (6.5 + random.uniform(0, 3)) * (i % 2 === 1 ? 1 : -1),
  })).sort((a, b) => b.z - a.z);
  const posts = spots.map(({ x, z }, marker) =>
    primitive(frames, {
      kind: 'box',
      color: colors[random.pick(colorNames)],
      ...seen(camera, x, z, frames),
      depth: 0.5,
      marker,
      shaded: false,
    }),
  );
  const way = turn === 'straight' ? 'straight ahead' : `and turn ${turn}`;
  return {
    width,
    height,
    frames,
    ground: 'road',
    primitives: posts,
    camera,
    ticks: [],
    domain: 'av',
    actionSize: 9,
    actions: Array.from({ length: frames - 1 }, (_, i) => {
      const angle = 2 * rate(i);
      return [0, 0, (speed(i) * 2) / 20, Math.cos(angle), 0, -Math.sin(angle), 0, 1, 0];
    }),
    instruction: `Drive ${way} ${isFast ? 'quickly' : 'slowly'}.`,
    color: null,
    execute: null,
  };
}
