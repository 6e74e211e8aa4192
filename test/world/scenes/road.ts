// The road of the driving scenes, in perspective.
import { optics } from './drive.js';
import type { Scene } from './scene.js';

const clamp = (v: number) => Math.min(Math.max(v, 0), 1);
const cover = (distance: number, blur: number) => clamp(0.5 - distance / blur);
const mix = (a: number, b: number, share: number) => a + (b - a) * share;
const remainder = (a: number, b: number) => ((a % b) + b) % b;

/** Draws sky and road of a frame into [height, width, 3]; scenes without a camera stay as they are. */
export function drawRoad({ width, height, camera }: Scene, frame: number, into: Float64Array): void {
  if (camera === null) return;
  const [eyeX, eyeZ, heading] = [camera.x, camera.z, camera.heading].map((values) => values[frame] as number) as [
    number,
    number,
    number,
  ];
  const [sin, cos] = [Math.sin(heading), Math.cos(heading)];
  const focal = optics.focal * width;
  for (let y = 0; y < height; y++) {
    const below = Math.max(y - optics.horizon * height, 0.5);
    const ahead = (optics.eye * focal) / below;
    const blur = Math.max(ahead / focal, 0.02);
    const blurZ = Math.max((blur * ahead) / optics.eye, 0.05);
    const fade = clamp(1 - ahead / 45);
    const isSky = cover(optics.horizon * height - y, 1);
    for (let x = 0; x < width; x++) {
      const right = ((x - width / 2) / focal) * ahead;
      const wx = eyeX + right * cos + ahead * sin;
      const wz = eyeZ - right * sin + ahead * cos;
      const across = Math.abs(wx);
      const road = cover(across - 4, blur);
      const line = cover(across - 0.18, blur) * cover(Math.abs(remainder(wz, 8) - 4) - 2, blurZ);
      const edge = cover(Math.abs(across - 3.7) - 0.12, blur);
      const tiles = 0.5 + 0.5 * Math.sign(Math.sin(wx * 0.45) * Math.sin(wz * 0.45)) * fade;
      const mark = Math.max(line, edge) * fade;
      for (let c = 0; c < 3; c++) {
        const grass = mix([0.22, 0.5, 0.2][c] as number, [0.28, 0.58, 0.25][c] as number, tiles);
        const ground = mix(mix(grass, [0.34, 0.34, 0.36][c] as number, road), [0.93, 0.93, 0.88][c] as number, mark);
        const sky = ([0.6, 0.8, 0.95][c] as number) * (1 - (0.2 * y) / height);
        into[(y * width + x) * 3 + c] = mix(sky, ground, isSky);
      }
    }
  }
}

/** How much of a painted lane a pixel of the drawn road shows, 0 … 1. */
export function isMark(picture: Float64Array, at: number, y: number, height: number): number {
  if (y <= optics.horizon * height) return 0;
  const dark = Math.min(picture[at] as number, picture[at + 1] as number, picture[at + 2] as number);
  return clamp((dark - 0.45) * 2.2);
}
