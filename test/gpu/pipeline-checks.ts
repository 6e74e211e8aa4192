// Proves on a GPU what whole jobs promise: equal requests give equal frames, in one process, after another prompt and in a fresh
// process; a stopped job leaves the engine usable; tiles change little. Uses the package's checkpoint. The last line counts.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Orrery, readConfig } from '../../src/engine/index.js';
import { chooseDevice, openDevice } from '../../src/engine/loader.js';
import { randomValues } from '../../src/weights/synthetic/random-values.js';

const size = { width: 320, height: 192, frames: 25, steps: 8, seed: 7, guidance: 3 };
const long = {
  ...size,
  prompt:
    'A red ball rolls to the right across a wooden table while a blue cube stands still behind it, and the camera follows.',
};
const short = { ...size, prompt: 'A green cube.' };
const device = process.env.ORRERY_DEVICE ?? 'cuda';

type Request = typeof long;

async function frames(orrery: Orrery, request: Request): Promise<{ readonly sha: string; readonly rgb: Uint8Array }> {
  const parts: Uint8Array[] = [];
  let sha = '';
  for await (const event of orrery.generate(request, { output: '/tmp/orrery-checks.json' })) {
    if (event.type === 'frames') parts.push(event.data.slice());
    if (event.type === 'artifact') sha = event.artifact.framesSha256 ?? '';
  }
  return { sha, rgb: Buffer.concat(parts) };
}

function psnr(a: Uint8Array, b: Uint8Array): number {
  let sum = 0;
  for (const [i, x] of a.entries()) sum += (x - (b[i] ?? 0)) ** 2;
  return 10 * Math.log10((255 ** 2 * a.length) / sum);
}

/** Whether a GPU's random weights are the host's, rounded; true where there is no GPU. */
async function sameRandomWeights(): Promise<boolean> {
  const { libraryRoots, kernelCache } = readConfig();
  const { cuda } = await openDevice(chooseDevice(device), { dtype: 'f32', libraryRoots, kernelCache });
  if (cuda === null) return true;
  await using gpu = cuda;
  const [shape, scale] = [[5, 3, 1, 2, 2], 0.01];
  using weight = gpu.randomWeight([{ shape, seed: 123, scale }], 'convolution');
  // A product with one channel and tap at a time reads the weight out.
  const wanted = randomValues(60, 123, scale);
  const read: number[] = [];
  for (let i = 0; i < 12; i++) {
    const [c, h, w] = [Math.floor(i / 4), Math.floor(i / 2) % 2, i % 2];
    const input = new Float32Array(12);
    input[(h * 2 + w) * 3 + c] = 1;
    const x = gpu.upload({ shape: [1, 2, 2, 3], dtype: 'f32', bytes: new Uint8Array(input.buffer) });
    const column = new Float32Array((await gpu.download(gpu.conv(x, weight))).bytes.slice().buffer);
    for (const [o, value] of column.entries()) read[o * 12 + i] = value;
  }
  return read.every((value, i) => Math.abs(value - (wanted[i] ?? Number.NaN)) < 1e-6);
}

if (process.argv[2] === 'fresh') {
  await using orrery = await Orrery.load({ device });
  console.log((await frames(orrery, short)).sha);
} else {
  let [passed, failed] = [0, 0];
  const check = (name: string, holds: boolean, detail = '') => {
    if (holds) passed++;
    else failed++;
    console.log(`${holds ? 'pass' : 'FAIL'}  ${name}${detail && `: ${detail}`}`);
  };
  const [first, again, afterLong, afterStop, plain] = await (async () => {
    await using orrery = await Orrery.load({ device });
    const before = await frames(orrery, short);
    const same = await frames(orrery, short);
    const other = await frames(orrery, long);
    check('two prompts give different frames', other.sha !== before.sha);
    const behind = await frames(orrery, short);
    const stop = new AbortController();
    let reason: unknown;
    try {
      for await (const event of orrery.generate(long, { signal: stop.signal, output: '/tmp/orrery-checks.json' }))
        if (event.type === 'step' && event.step === 3) stop.abort(new Error('enough'));
    } catch (error) {
      reason = error;
    }
    check('a stopped job ends with its reason', reason instanceof Error && reason.message === 'enough', String(reason));
    const rest = await frames(orrery, short);
    return [before, same, behind, rest, await frames(orrery, { ...long, width: 640, height: 384 })] as const;
  })();
  check('the same request twice', first.sha === again.sha, first.sha.slice(0, 12));
  check('the same request after another prompt of another length', first.sha === afterLong.sha);
  check('the same request after a job that was stopped', first.sha === afterStop.sha);
  const fresh = execFileSync(process.execPath, [fileURLToPath(import.meta.url), 'fresh'], { encoding: 'utf8' });
  check('the same request in a fresh process', first.sha === fresh.trim(), fresh.trim().slice(0, 12));
  await using tiled = await Orrery.load({ device, vaeTiling: true });
  const near = psnr(plain.rgb, (await frames(tiled, { ...long, width: 640, height: 384 })).rgb);
  check('random weights are the ones that the host makes', await sameRandomWeights());
  check('tiles change little', near > 30, `${near.toFixed(1)} dB`);
  console.log(`${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}
