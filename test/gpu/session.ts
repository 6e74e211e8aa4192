// The rows of docs/performance.md on a GPU, one `orrery bench --json` after the other, the most telling first. Each has a time limit;
// its line goes to rows.txt and its JSON to rows.json in the folder $OUT as soon as it is there.
// Arguments: `--seconds N` for all rows together, `--list` to see what would run and for how long, then parts of rows' names; all rows
// where absent.
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PipelineBench } from '../../src/engine/tools/bench/bench-report.js';
import { encodeImage } from '../../src/media/index.js';

interface Row {
  readonly name: string;
  /** Seconds expected of the command. */
  readonly seconds: number;
  readonly flags: string;
  /** Keeps kernels; emptied first. */
  readonly folder?: string;
}

const here = dirname(fileURLToPath(import.meta.url));
const out = process.env.OUT ?? join(tmpdir(), 'orrery-rows');
const emptyCache = join(tmpdir(), 'orrery-empty-cache');
const actionFile = join(tmpdir(), 'orrery-actions.json');
const picture = join(tmpdir(), 'orrery-picture.png');

const base = '--device cuda --synthetic nano';
const one = '--guidance-scale 1 --text-tokens 300';
const fp8 = '--quantization fp8';
const quick = '--phase denoise --no-ops';
const still = '--task text-to-image --size 1024x1024';
const short = '--task text-to-video --size 832x480 --num-frames 49 --num-inference-steps 10';
const long = '--task text-to-video --size 1280x720 --num-frames 189';
const guided = '--guidance-scale 6 --text-tokens 300';
const interval = `--extra-body {"guidance_interval":[400,1000]}`;

const policy = { action_mode: 'policy', domain_name: 'av', raw_action_dim: 9, num_frames: 17, resolution: '480' };

const rows: readonly Row[] = [
  { name: 't2i-bf16', seconds: 4, flags: `${still} ${one} --num-inference-steps 20 --phase denoise` },
  { name: 't2i-fp8', seconds: 4, flags: `${still} ${one} --num-inference-steps 20 --phase denoise ${fp8}` },
  { name: '480p-bf16', seconds: 9, flags: `${short} ${one}` },
  { name: '480p-fp8', seconds: 6, flags: `${short} ${one} ${fp8} --phase denoise` },
  { name: '480p-fp8-both', seconds: 6, flags: `${short} ${one} ${fp8} --fp8-attention --phase denoise` },
  { name: '480p-fp8-skip-357', seconds: 7, flags: `${short} ${one} ${fp8} --skip-steps 3,5,7 --no-ops` },
  { name: '480p-fp8-skip-2468', seconds: 4, flags: `${short} ${one} ${fp8} --skip-steps 2,4,6,8 ${quick}` },
  { name: '720p-bf16', seconds: 31, flags: `${long} ${one} --num-inference-steps 3 --runs 2 --no-ops` },
  { name: '720p-fp8', seconds: 28, flags: `${long} ${one} --num-inference-steps 3 --runs 2 --no-ops ${fp8}` },
  {
    name: '720p-fp8-both',
    seconds: 17,
    flags: `${long} ${one} --num-inference-steps 3 --runs 2 ${fp8} --fp8-attention --phase denoise`,
  },
  ...['1550', '1550 --separate-branches', '2800'].map((text) => ({
    name: `t2i-guided-${text.replace(' --', '-').replace('-branches', '')}`,
    seconds: 7,
    flags: `${still} --guidance-scale 6 --text-tokens ${text} --num-inference-steps 50 ${fp8} ${quick} ${interval}`,
  })),
  { name: 'first-request-cold', seconds: 8, flags: `${short} ${one} ${fp8} --no-ops --runs 2`, folder: emptyCache },
  {
    name: 'forward-dynamics',
    seconds: 10,
    flags: `--size 640x480 --image ${picture} --extra-body @${actionFile} --num-inference-steps 30 ${one} ${fp8} --no-ops`,
  },
  {
    name: 'policy',
    seconds: 5,
    flags: `--size 640x480 --image ${picture} --extra-body ${JSON.stringify(policy)} --num-inference-steps 30 ${one} ${fp8} --no-ops`,
  },
  { name: '480p-picture', seconds: 7, flags: `${short.replace('text-', 'image-')} ${one} --image ${picture} --no-ops` },
  {
    name: '256p-long',
    seconds: 16,
    flags: `--task text-to-video --size 320x192 --num-frames 189 ${guided} --num-inference-steps 35 --no-ops --runs 2`,
  },
  {
    name: '480p-long',
    seconds: 16,
    flags: `--task text-to-video --size 832x480 --num-frames 189 ${guided} --num-inference-steps 3 --no-ops --runs 2`,
  },
  ...[
    [25, 6],
    [49, 10],
    [93, 17],
  ].map(([frames, seconds = 0]) => ({
    name: `720p-${frames}-frames`,
    seconds,
    flags: `--task text-to-video --size 1280x720 --num-frames ${frames} ${guided} --num-inference-steps 3 --runs 2 --no-ops ${fp8}`,
  })),
  {
    name: '720p-fp8-released-tiling',
    seconds: 15,
    flags: `${long} ${one} --num-inference-steps 2 --runs 1 --no-ops ${fp8} --release-text-tower --vae-use-tiling`,
  },
  {
    name: '720p-offload',
    seconds: 22,
    flags: `${long} ${one} --num-inference-steps 4 --runs 1 ${quick} --enable-layerwise-offload`,
  },
  {
    name: '720p-decode-tiling',
    seconds: 15,
    flags: `${long} ${one} --phase decode --vae-use-tiling --no-ops --runs 2`,
  },
];

const argument = (name: string) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
};
const limit = Number(argument('--seconds') ?? 900);
const wanted = process.argv.slice(2).filter((text, i, all) => !text.startsWith('--') && all[i - 1] !== '--seconds');
const isWanted = ({ name }: Row) =>
  wanted.length === 0 ||
  wanted.some((part) => name === part || (part.endsWith('*') && name.startsWith(part.slice(0, -1))));
const chosen = rows.filter(isWanted);

const gib = (bytes: number) => (bytes / 2 ** 30).toFixed(2);

/** One line of what a row showed. */
function describe({
  step,
  warm,
  cold,
  coldMinusWarmSeconds,
  memory,
  job,
  floor,
  ops,
  kernels,
  loadSeconds,
}: PipelineBench): string {
  const kinds = ops.step && Object.entries(ops.step.kinds).map(([kind, ms]) => `${kind} ${ms.toFixed(1)}`);
  return [
    `${job.task} ${job.width}x${job.height} ${job.frames}f ${job.steps} steps x${job.branches} ${job.visionTokens}+${job.textTokens}`,
    step &&
      `step ${step.medianMs.toFixed(2)} median ${step.minMs.toFixed(2)} least host ${step.hostMs.toFixed(2)} idle ${step.idleMs.toFixed(3)}`,
    floor && `floor ${floor.stepMs.toFixed(1)}`,
    `text ${warm.text.toFixed(3)} prepare ${warm.prepare.toFixed(3)} denoise ${warm.denoise.toFixed(3)} decode ${warm.decode.toFixed(3)} all ${warm.total.toFixed(3)}`,
    `cold ${cold.total.toFixed(3)} (+${coldMinusWarmSeconds.toFixed(3)}) load ${loadSeconds.toFixed(2)}`,
    memory &&
      `GiB ${gib(memory.peakReservedBytes)} reserved ${gib(memory.peakAllocatedBytes)} allocated ${gib(memory.estimateBytes)} estimated`,
    kinds?.join(' '),
    kernels && `compiled ${kernels.compiled} in ${(kernels.compileMs / 1000).toFixed(1)} s`,
  ]
    .filter((part) => part)
    .join(' | ');
}

function run({ name, flags, seconds, folder }: Row): void {
  if (folder) rmSync(folder, { recursive: true, force: true });
  const start = performance.now();
  const { status, stdout, stderr, error } = spawnSync(
    process.execPath,
    [join(here, '../../src/cli/main.js'), 'bench', '--json', ...base.split(' '), ...flags.trim().split(/\s+/)],
    {
      encoding: 'utf8',
      timeout: 1000 * (2 * seconds + 15),
      killSignal: 'SIGKILL',
      maxBuffer: 64e6,
      env: { ...process.env, ...(folder && { ORRERY_KERNEL_CACHE: folder }) },
    },
  );
  const took = ((performance.now() - start) / 1000).toFixed(1);
  let line: string;
  try {
    const bench = JSON.parse(stdout) as PipelineBench;
    appendFileSync(
      join(out, 'rows.json'),
      `${JSON.stringify({ name, flags: `${base} ${flags}`, seconds: Number(took), bench })}\n`,
    );
    line = describe(bench);
  } catch {
    line = `FAILED ${status ?? error?.message}: ${stderr.slice(-600)} ${stdout.slice(-200)}`;
  }
  console.log(`${name} (${took} s) ${line}`);
  appendFileSync(join(out, 'rows.txt'), `${name} (${took} s) ${line}\n`);
}

if (process.argv.includes('--list')) {
  for (const { name, seconds, flags } of chosen)
    console.log(`${String(seconds).padStart(4)} s  ${name}: ${base} ${flags}`);
  console.log(`${chosen.reduce((sum, row) => sum + row.seconds, 0)} s in all`);
} else {
  mkdirSync(out, { recursive: true });
  const actions = Array.from({ length: 60 }, (_, i) => Array.from({ length: 9 }, (_, j) => Math.sin(0.1 * i + j)));
  const fields = {
    action_mode: 'forward_dynamics',
    domain_name: 'av',
    raw_action_dim: 9,
    num_frames: 61,
    resolution: '480',
  };
  writeFileSync(actionFile, JSON.stringify({ ...fields, action: actions }));
  const data = Uint8Array.from({ length: 640 * 480 * 3 }, (_, i) => (i * 7) & 255);
  writeFileSync(picture, await encodeImage({ width: 640, height: 480, data }, { format: 'png' }));
  const start = performance.now();
  for (const row of chosen) {
    const spent = (performance.now() - start) / 1000;
    if (spent + row.seconds > limit) console.log(`${row.name}: left out, ${Math.round(limit - spent)} s are left`);
    else run(row);
  }
  console.log(`${((performance.now() - start) / 1000).toFixed(1)} s in all`);
}
