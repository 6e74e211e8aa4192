// What the small checkpoint makes, measured task by task:
//   npm run world -- [--model FOLDER] [--device NAME] [--threads N] [--scale 0..1] [--task NAME,…] [--json FILE]
//                    [--set N] [--with JSON] [--keep FOLDER]
// The whole run is 175 TFLOP: about 50 minutes on two cores. Clips need ffmpeg; text-to-image, policy and inverse-dynamics do not.
// --set: other prompts and seeds than those that are reported, to choose settings on. --with: fields laid over every request.
// --keep: a folder in which all that is made stays and is found again, also by a run that was broken off.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Orrery } from '../../src/index.js';
import { autoencoder } from './checks/autoencoder.js';
import type { Check } from './checks/bench.js';
import { imageToVideo, videoToVideo } from './checks/continued.js';
import { type Figure, formatFigures } from './checks/figures.js';
import { forwardDynamics, inverseDynamics, policy } from './checks/robots.js';
import { Studio } from './checks/studio.js';
import { sound } from './checks/ticks.js';
import { transfer } from './checks/transfer.js';
import { everyForm, everyMotion } from './checks/variety.js';
import { textToImage, textToVideo } from './checks/words.js';

const checks: Readonly<Record<string, Check>> = {
  'text-to-image': textToImage,
  'text-to-video': textToVideo,
  'image-to-video': imageToVideo,
  'video-to-video': videoToVideo,
  sound,
  transfer,
  'forward-dynamics': forwardDynamics,
  policy,
  'inverse-dynamics': inverseDynamics,
  motions: everyMotion,
  forms: everyForm,
  autoencoder,
};

const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    device: { type: 'string' },
    threads: { type: 'string' },
    scale: { type: 'string', default: '1' },
    task: { type: 'string' },
    set: { type: 'string', default: '0' },
    with: { type: 'string' },
    keep: { type: 'string' },
    json: { type: 'string' },
  },
});
const scale = Number(values.scale);
if (!(scale > 0 && scale <= 1)) throw new Error(`--scale must be above 0 and at most 1, got ${values.scale}`);
const set = Number(values.set);
if (!Number.isInteger(set) || set < 0 || set > 1000)
  throw new Error(`--set must be a whole number up to 1000, got ${values.set}`);
const names = values.task?.split(',') ?? Object.keys(checks);
for (const name of names) {
  if (!(name in checks)) throw new Error(`--task ${name} is not one of ${Object.keys(checks).join(', ')}`);
}

const threads = values.threads === undefined ? undefined : Number(values.threads);
await using engine = await Orrery.load({ model: values.model, device: values.device, threads });
using studio = new Studio(engine, {
  keep: values.keep,
  overlay: values.with === undefined ? {} : JSON.parse(values.with),
});
const isTerminal = process.stderr.isTTY === true;
const report = (message: string) => {
  if (isTerminal) process.stderr.write(`\r\x1b[K${message}`);
};
const started = Date.now();
const figures: Figure[] = [];
for (const name of names) {
  const found = (await checks[name]?.({ studio, scale, set, report })) ?? [];
  report('');
  figures.push(...found);
  process.stdout.write(`${formatFigures(found)}\n\n`);
}
const minutes = (Date.now() - started) / 60_000;
process.stdout.write(
  `${engine.model} on ${engine.device}, ${minutes.toFixed(1)} minutes, every third prompt of a held-out combination\n`,
);
if (values.json !== undefined)
  writeFileSync(
    values.json,
    `${JSON.stringify({ model: engine.model, device: engine.device, scale, set, minutes, figures }, null, 1)}\n`,
  );
