// The simulators: the world's own actions do what their instruction says, wrong ones do not; the Python side's numbers by hand.
import { describe, expect, it } from 'vitest';
import { drawArmScene, jointsOf, simulateArm, tipOf } from './scenes/arms.js';
import { drawDriveScene } from './scenes/drive.js';
import { drawPushScene, simulatePush } from './scenes/push.js';
import { Random } from './scenes/random.js';
import { scaled } from './scenes/units.js';

describe('simulators', () => {
  it('an arm carries what it closed on', () => {
    const poses = [
      { tip: [100, 100], gripper: 1 },
      { tip: [110, 100], gripper: 0 },
      { tip: [130, 90], gripper: 0 },
      { tip: [140, 90], gripper: 1 },
    ] as const;
    const things = [
      [118, 100],
      [150, 150],
    ] as const;
    // Taken at frame 1 it moves with the step that led there, and stays where the gripper opens.
    expect(simulateArm(poses, things).map(([thing]) => thing)).toEqual([
      [118, 100],
      [128, 100],
      [148, 90],
      [148, 90],
    ]);
  });

  it('numbers in other units: steps, angles and places alone', () => {
    expect(scaled([[1, -2, 0, 1, 0, 0, 0, 1, 0, 1]], 'arm', 4)).toEqual([[4, -8, 0, 1, 0, 0, 0, 1, 0, 1]]);
    expect(scaled([[1, -2, 3, 0, 0, 0, 0, 1]], 'joints', 0.25)).toEqual([[0.25, -0.5, 0.75, 0, 0, 0, 0, 1]]);
    expect(scaled([[0.5, -1]], 'pusht', 2)).toEqual([[1, -2]]);
  });

  it('joints give back the tip', () => {
    const at = [160, 200] as const;
    for (const tip of [
      [80, 70],
      [250, 60],
      [160, 110],
    ] as const) {
      const [x, y] = tipOf(...jointsOf(tip, at), at);
      expect(x).toBeCloseTo(tip[0], 6);
      expect(y).toBeCloseTo(tip[1], 6);
    }
  });

  it('a disc pushes another to its rim', () => {
    const path = simulatePush(
      [
        [50, 100],
        [74, 100],
        [90, 100],
      ],
      [100, 100],
    );
    expect(path.map(([x]) => x)).toEqual([100, 100, 116]);
  });

  it('a disc that pushes off the middle, slides along and leaves takes the other with it while they touch', () => {
    const path = simulatePush(
      [
        [80, 90],
        [120, 90],
        [120, 110],
        [60, 110],
      ],
      [110, 100],
    );
    const [, pushed, along, left] = path as readonly (readonly [number, number])[];
    // A part is 2.5 px to the right, then 1.25 px down: it would come nearer than 26 px from (25, 10), and then from (25, 7.5).
    expect(pushed).toEqual([145, 100]);
    expect(along).toEqual([145, 117.5]);
    expect(left).toEqual(along);
  });

  it('every scene is solved by its own actions and not by standing still', () => {
    const random = new Random(11);
    for (const kind of ['bridge', 'droid', 'droid-joints'] as const) {
      for (let i = 0; i < 20; i++) {
        const scene = drawArmScene(random, kind);
        expect(scene.execute?.(scene.actions).done, scene.instruction).toBe(true);
        const still = scene.actions.map((row) =>
          row.map((v, c) => (kind === 'droid-joints' ? (scene.actions[0]?.[c] ?? 0) : c < 2 ? 0 : v)),
        );
        expect(scene.execute?.(still).done, scene.instruction).toBe(false);
      }
    }
    for (let i = 0; i < 20; i++) {
      const scene = drawPushScene(random);
      expect(scene.execute?.(scene.actions).done, scene.instruction).toBe(true);
      const still = scene.actions.map(() => scene.actions[0] ?? []);
      expect(scene.execute?.(still).done, scene.instruction).toBe(false);
    }
  });

  it('a car moves as its actions say', () => {
    const { actions, camera, actionSize } = drawDriveScene(new Random(12));
    const way = Math.hypot((camera?.x[1] ?? 0) - (camera?.x[0] ?? 0), (camera?.z[1] ?? 0) - (camera?.z[0] ?? 0));
    expect((way * 24 * 2) / 20).toBeCloseTo(actions[0]?.[2] ?? 0, 6);
    const turn = (camera?.heading[1] ?? 0) - (camera?.heading[0] ?? 0);
    expect(Math.sin(turn * 24 * 2)).toBeCloseTo(-(actions[0]?.[5] ?? 0), 6);
    expect(actions[0]).toHaveLength(actionSize);
  });
});
