// Clips that follow control maps.
import { type HintKind, hintKinds } from '../../../src/pipeline/request.js';
import { overlap } from '../measures/compare.js';
import { maskObjects } from '../measures/objects.js';
import { describeClip } from '../scenes/captions.js';
import { drawScene } from '../scenes/draw.js';
import { drawToyScene } from '../scenes/toys.js';
import { type Bench, type Check, isHeldOutCase, overCases } from './bench.js';
import { type Figure, meanOf } from './figures.js';

const task = 'transfer';

/** How far objects of clips made after one kind of map lie where the map has them. */
async function followHint(bench: Bench, kind: HintKind): Promise<Figure> {
  const found = await overCases(bench, `${task} ${kind}`, 8, async (random, seed) => {
    const scene = drawToyScene(random, { heldOut: isHeldOutCase(seed) });
    const source = { kind: 'frames', clip: drawScene(scene, kind) } as const;
    const prompt = describeClip(random, scene);
    const clip = await bench.studio.clip({ task, prompt, transfer: { hints: [{ kind, source }] }, seed });
    const truth = drawScene(scene, 'depth');
    const frames = Array.from({ length: clip.frames }, (_, frame) => frame);
    const masks = [clip, truth].map((shown) => frames.map((frame) => maskObjects(shown, frame)));
    return overlap(...(masks as [(typeof masks)[0], (typeof masks)[0]]));
  });
  return meanOf({ task, measure: `${kind}, object mask`, unit: 'IoU', bar: 0.75 }, found);
}

export const transfer: Check = async (bench) => {
  const figures: Figure[] = [];
  for (const kind of hintKinds) figures.push(await followHint(bench, kind));
  return figures;
};
