// Proves on a GPU what kept and reused work promises: whatever is kept between jobs (texts, recorded steps, layers outside the GPU),
// frames are those of an engine that keeps nothing; step and guidance caches repeat themselves; adapters are merged before weights are
// quantised; branches that go together give what they give apart; a killed process spoils no cache. Uses the package's checkpoint.
// Argument: a part of the groups' names. The last line counts.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openModel } from '../../src/engine/checkpoint/open-model.js';
import { type LoadOptions, Orrery, type RequestInput, readConfig } from '../../src/engine/index.js';
import { fromFloat32, toFloat32, type WritableTensor, writeSafetensors } from '../../src/weights/index.js';

const device = process.env.ORRERY_DEVICE ?? 'cuda';
const wanted = process.argv[2] ?? '';
const folder = mkdtempSync(join(tmpdir(), 'orrery-reuse-'));

const common = { width: 320, height: 192, frames: 25, steps: 8, seed: 7, guidance: 3 };
const short: RequestInput = { ...common, prompt: 'A green cube.' };
const long: RequestInput = {
  ...common,
  seed: 8,
  prompt: `A red ball rolls to the right across a wooden table${' while a blue cube stands still behind it'.repeat(20)}.`,
};

let [passed, failed] = [0, 0];
function check(name: string, holds: boolean, detail = ''): void {
  if (holds) passed++;
  else failed++;
  console.log(`${holds ? 'pass' : 'FAIL'}  ${name}${detail && `: ${detail}`}`);
}

interface Result {
  readonly sha: string;
  readonly rgb: Uint8Array;
  readonly passes: number;
}

async function run(orrery: Orrery, request: RequestInput): Promise<Result> {
  const parts: Uint8Array[] = [];
  let [sha, passes] = ['', 0];
  for await (const event of orrery.generate(request, { output: join(folder, 'checks.json') })) {
    if (event.type === 'frames') parts.push(event.data.slice());
    if (event.type === 'step') passes += event.passes;
    if (event.type === 'artifact') sha = event.artifact.framesSha256 ?? '';
  }
  return { sha, rgb: Buffer.concat(parts), passes };
}

/** Each request alone, on an engine that keeps nothing. */
async function alone(options: LoadOptions, requests: readonly RequestInput[]): Promise<readonly Result[]> {
  await using orrery = await Orrery.load({ device, keep: { textBytes: 0, shapes: 0 }, ...options });
  const results: Result[] = [];
  for (const request of requests) results.push(await run(orrery, request));
  return results;
}

function psnr(a: Uint8Array, b: Uint8Array): number {
  let sum = 0;
  for (const [i, x] of a.entries()) sum += (x - (b[i] ?? 0)) ** 2;
  return sum === 0 ? Number.POSITIVE_INFINITY : 10 * Math.log10((255 ** 2 * a.length) / sum);
}

const fp8 = { format: 'fp8' } as const;

const groups: Readonly<Record<string, () => Promise<void>>> = {
  /** Texts of two buckets, back and forth, each shape recorded once. */
  async kept() {
    for (const options of [{}, { quantization: fp8 }] satisfies LoadOptions[]) {
      const name = 'quantization' in options ? 'fp8' : 'bf16';
      const fresh = await alone(options, [short, long]);
      await using orrery = await Orrery.load({ device, ...options });
      const order = [short, long, short, long, { ...short, seed: 9 }, short];
      const found: string[] = [];
      for (const request of order) found.push((await run(orrery, request)).sha);
      const [a, b] = fresh.map(({ sha }) => sha);
      check(
        `${name}: kept texts and steps give the frames of fresh ones`,
        [a, b, a, b].every((sha, i) => sha === found[i]) && found[5] === a,
      );
      check(`${name}: another seed is another clip`, found[4] !== a);
    }
  },
  /** Layers outside the GPU. */
  async offload() {
    for (const quantization of [undefined, fp8]) {
      const [inside] = await alone({ quantization }, [short]);
      for (const offload of [['und'], ['und', 'gen']] as const) {
        await using orrery = await Orrery.load({ device, quantization, offload });
        const found = [await run(orrery, short), await run(orrery, long), await run(orrery, short)];
        check(
          `${quantization?.format ?? 'bf16'}, ${offload.join(' and ')} outside: the frames of resident layers`,
          found[0]?.sha === inside?.sha && found[2]?.sha === inside?.sha,
        );
      }
    }
  },
  async caches() {
    const [plain] = await alone({}, [short]);
    const more = { ...common, prompt: 'A green cube.', steps: 16 };
    const reuses: readonly (readonly [string, Partial<RequestInput>])[] = [
      ['teacache', { stepCache: { kind: 'teacache', threshold: 0.3, warmupSteps: 2 } }],
      ['seacache', { stepCache: { kind: 'seacache', threshold: 0.3, warmupSteps: 2 } }],
      ['guidance', { guidanceEvery: 2 }],
      ['seacache and guidance', { stepCache: { kind: 'seacache', threshold: 0.3, warmupSteps: 2 }, guidanceEvery: 2 }],
      ['skipped', { skipSteps: [3, 5, 7] }],
    ];
    const [whole] = await alone({}, [more]);
    await using orrery = await Orrery.load({ device });
    for (const [name, fields] of reuses) {
      const request: RequestInput = { ...more, ...fields };
      const found = [await run(orrery, request), await run(orrery, request)];
      const [fresh] = await alone({}, [request]);
      const near = psnr(whole?.rgb ?? new Uint8Array(), found[0]?.rgb ?? new Uint8Array());
      check(
        `${name}: the same frames again, and in a fresh engine`,
        found[0]?.sha === found[1]?.sha && found[0]?.sha === fresh?.sha,
        `${found[0]?.passes} of ${whole?.passes} passes, ${near.toFixed(1)} dB`,
      );
      check(`${name}: fewer passes, a similar clip`, (found[0]?.passes ?? 0) < (whole?.passes ?? 0) && near > 18);
    }
    check('and none without', (await run(orrery, short)).sha === plain?.sha);
  },
  /** Branches that go through the network together, and one by one. */
  async branches() {
    for (const quantization of [undefined, fp8]) {
      const [together] = await alone({ quantization }, [short]);
      const [apart] = await alone({ quantization, keep: { textBytes: 0, shapes: 0, joinedRows: 0 } }, [short]);
      const near = psnr(together?.rgb ?? new Uint8Array(), apart?.rgb ?? new Uint8Array());
      check(`${quantization?.format ?? 'bf16'}: branches together and one by one`, near > 35, `${near.toFixed(1)} dB`);
    }
  },
  /** An adapter, against a checkpoint with the same numbers added by hand: all of them are sums of few powers of two, so exact. */
  async adapter() {
    const modules = ['layers.0.self_attn.add_q_proj', 'layers.1.self_attn.to_add_out'];
    const size = 256;
    const signs = (by: number) => Float32Array.from({ length: size }, (_, i) => (Math.sin(i * by) < 0 ? -1 : 1) / 8);
    const [a, b] = [signs(0.7), signs(1.3)];
    const tensor = (name: string, shape: number[], values: Float32Array): WritableTensor => ({
      name,
      dtype: 'f32',
      shape,
      bytes: fromFloat32(values, 'f32'),
    });
    const path = join(folder, 'adapter.safetensors');
    await writeSafetensors(
      path,
      modules.flatMap((module) => [
        tensor(`transformer.${module}.lora_A.weight`, [1, size], a),
        tensor(`transformer.${module}.lora_B.weight`, [size, 1], b),
      ]),
    );
    const { checkpoint } = await openModel({}, readConfig());
    const part = checkpoint.part('transformer');
    const table = part.table();
    const changed = table.names.map((name): WritableTensor => {
      const { shape, dtype, bytes } = table.load(name);
      if (!modules.includes(name.replace(/\.weight$/, ''))) return { name, shape, dtype, bytes };
      const values = toFloat32({ shape, dtype, bytes }).map(
        (value, i) => value + (b[Math.floor(i / size)] ?? 0) * (a[i % size] ?? 0),
      );
      return { name, shape, dtype, bytes: fromFloat32(values, 'bf16') };
    });
    const transformer = join(folder, 'transformer');
    mkdirSync(transformer);
    writeFileSync(join(transformer, 'config.json'), JSON.stringify(part.config));
    await writeSafetensors(join(transformer, 'diffusion_pytorch_model.safetensors'), changed);
    checkpoint[Symbol.dispose]();
    for (const quantization of [undefined, fp8]) {
      const [plain] = await alone({ quantization }, [short]);
      const [merged] = await alone({ quantization, lora: { path, scale: 1 } }, [short]);
      const [byHand] = await alone({ quantization, parts: { transformer } }, [short]);
      check(
        `${quantization?.format ?? 'bf16'}: an adapter gives the frames of weights changed by hand`,
        merged?.sha === byHand?.sha && merged?.sha !== plain?.sha,
        merged?.sha.slice(0, 12),
      );
    }
  },
  async killed() {
    const cache = join(folder, 'kernels');
    const environment = { ...process.env, ORRERY_KERNEL_CACHE: cache };
    const child = (kind: string, onLine: (line: string, kill: () => void) => void) =>
      new Promise<void>((resolve) => {
        const made = spawn(process.execPath, [fileURLToPath(import.meta.url), kind], { env: environment });
        made.stdout.setEncoding('utf8').on('data', (text: string) => {
          onLine(text.trim(), () => made.kill('SIGKILL'));
        });
        made.stderr.resume();
        made.on('close', () => resolve());
      });
    let steps = 0;
    await child('child-steps', (line, kill) => {
      if (line.startsWith('step') && ++steps === 1) setTimeout(kill, 7);
    });
    const left = readdirSync(cache);
    const odd = left.filter((name) => !/^[0-9a-f]{40}\.[a-z]+$/.test(name));
    check(
      'a process killed in a step leaves whole files alone',
      steps > 0 && left.length > 0 && odd.length === 0,
      odd.join(' '),
    );
    let sha = '';
    await child('child-frames', (line) => {
      sha = line;
    });
    const [plain] = await alone({}, [short]);
    check('and the next process works with what it left', sha === plain?.sha, sha.slice(0, 12));
  },
};

if (wanted === 'child-steps') {
  await using orrery = await Orrery.load({ device });
  for await (const event of orrery.generate({ ...short, steps: 200 }, { output: join(folder, 'checks.json') }))
    if (event.type === 'step') console.log(`step ${event.step}`);
} else if (wanted === 'child-frames') {
  const [result] = await alone({}, [short]);
  console.log(result?.sha);
} else await runGroups();
rmSync(folder, { recursive: true, force: true });

async function runGroups(): Promise<void> {
  for (const [name, group] of Object.entries(groups)) {
    if (!name.includes(wanted)) continue;
    const start = performance.now();
    try {
      await group();
    } catch (error) {
      check(name, false, error instanceof Error ? (error.stack ?? error.message) : String(error));
    }
    console.log(`      ${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
  }
  console.log(`${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}
