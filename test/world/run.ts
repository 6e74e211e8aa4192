// What the small checkpoint makes, measured task by task:
//   npm run world -- [--model FOLDER] [--device NAME] [--threads N] [--scale 0..1] [--task NAME,…] [--json FILE]
//                    [--set N] [--with JSON] [--keep FOLDER] [--processes N]
// The whole run is 175 TFLOP: about an hour on two cores, in proportion less by --scale. Clips need ffmpeg; text-to-image, policy and inverse-dynamics do not.
// --set: other prompts and seeds than those that are reported, to choose settings on. --with: fields laid over every request.
// --processes: how many share the cases and the threads; two where absent. The figures are the same.
// --keep: a folder in which all that is made stays and is found again, also by a run that was broken off.
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Orrery } from '../../src/index.js';
import { autoencoder } from './checks/autoencoder.js';
import type { Check } from './checks/bench.js';
import { imageToVideo, videoToVideo } from './checks/continued.js';
import { Crew, type Told } from './checks/crew.js';
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
    processes: { type: 'string' },
    share: { type: 'string' },
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
const isTerminal = process.stderr.isTTY === true;
const report = (message: string) => {
  if (isTerminal) process.stderr.write(`\r\x1b[K${message}`);
};
const started = Date.now();

if (values.share === undefined) await lead();
else await work(values.share);

/** Starts the processes that measure, and prints what each task comes to. */
async function lead(): Promise<void> {
  const count = readProcesses();
  const share = Math.max(1, Math.floor((threads ?? availableParallelism()) / count));
  const args = [...process.argv.slice(2), '--threads', String(share)];
  using crew = new Crew({ program: fileURLToPath(import.meta.url), args, count, report });
  const figures: Figure[] = [];
  const refuse = () => Promise.reject(new Error('this process makes nothing'));
  const studio = { picture: refuse, clip: refuse, clipWithSound: refuse, actions: refuse };
  for (const name of names) {
    const from = Date.now();
    const result = await crew.finish(name);
    const found = (await checks[name]?.({ studio, scale, set, report, found: result })) ?? [];
    report('');
    figures.push(...found);
    process.stdout.write(`${formatFigures(found)}\n${((Date.now() - from) / 60_000).toFixed(1)} minutes\n\n`);
  }
  const { model, device } = crew.engine;
  const minutes = (Date.now() - started) / 60_000;
  process.stdout.write(
    `${model} on ${device}, ${minutes.toFixed(1)} minutes, every third prompt of a held-out combination\n`,
  );
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ model, device, scale, set, minutes, figures }, null, 1)}\n`);
}

/** Measures a share of the cases and tells the leader. */
async function work(place: string): Promise<void> {
  const [index, count] = place.split('/').map(Number) as [number, number];
  const tell = (told: Told) => process.send?.(told);
  process.on('disconnect', () => process.exit(1));
  await using engine = await Orrery.load({ model: values.model, device: values.device, threads });
  using studio = new Studio(engine, {
    keep: values.keep,
    overlay: values.with === undefined ? {} : JSON.parse(values.with),
  });
  tell({ kind: 'ready', model: engine.model, device: engine.device });
  for (const check of names) {
    const share = {
      index,
      count,
      tell: (at: string, result: unknown) => tell({ kind: 'result', check, place: at, result }),
    };
    await checks[check]?.({ studio, scale, set, report: () => undefined, share });
    tell({ kind: 'end', check });
  }
  process.removeAllListeners('disconnect');
  process.disconnect();
}

/** Two where there are two cores: of one thread each they are faster than one of two threads. */
function readProcesses(): number {
  if (values.processes === undefined) return Math.min(2, threads ?? availableParallelism());
  const count = Number(values.processes);
  if (!Number.isInteger(count) || count < 1 || count > 64)
    throw new Error(`--processes must be a whole number from 1 to 64, got ${values.processes}`);
  return count;
}
