// A worker with a fake pipeline: sleeps, writes files made from the prompt alone, and fails on demand.
// A job says what it wants in `extra.fake`:
//   steps, stepMs   how long it runs
//   bytes           size of its file
//   crashAtStep, crashEpochs    kills its own process before that step, in those lease epochs (all where absent)
//   hangAtStep      blocks the main thread for ever before that step; the beats go on
//   stopAtStep      stops the whole process (SIGSTOP) before that step
//   errorAtStep     throws
//   leakMb          holds on to that much memory
//   lie             names a file size that is not true
//   deaf            pays no heed to cancellation
//   previewEvery    sends a preview every so many steps
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { serveSupervisor } from '../../dist/engine/worker/serve-supervisor.js';

const held = [];

/** The bytes that a prompt gives, always the same. */
export function fakeContent(prompt, bytes) {
  const seed = createHash('sha256').update(prompt).digest();
  return Buffer.alloc(bytes, seed);
}

async function run(job, { signal, onProgress, onPreview }) {
  const fake = job.request.extra.fake ?? {};
  const { steps = 3, stepMs = 5, bytes = 1000 } = fake;
  const at = (name, step) => fake[name] === step;
  const report = (phase, step) => onProgress({ phase, step, steps, chunk: 0, chunks: 1 });
  report('text', 0);
  report('denoise', 0);
  if (fake.leakMb) held.push(Buffer.alloc(fake.leakMb * 2 ** 20, 1));
  for (let step = 1; step <= steps; step++) {
    if (at('crashAtStep', step) && (fake.crashEpochs?.includes(job.epoch) ?? true))
      process.kill(process.pid, 'SIGKILL');
    if (at('hangAtStep', step)) for (;;);
    if (at('stopAtStep', step)) process.kill(process.pid, 'SIGSTOP');
    if (at('errorAtStep', step)) throw new Error('the fake pipeline was told to fail');
    await sleep(stepMs);
    if (!fake.deaf) signal.throwIfAborted();
    report('denoise', step);
    if (fake.previewEvery && step % fake.previewEvery === 0) {
      onPreview({ step, mediaType: 'image/png', bytes: new Uint8Array([step]) });
    }
  }
  report('write', 0);
  const content = fakeContent(job.request.fields.prompt, bytes);
  const files = [];
  for (const [i, { variant }] of job.outputs.entries()) {
    const name = `${variant}-${i}.bin`;
    await writeFile(join(job.folder, name), content);
    const sha256 = createHash('sha256').update(content).digest('hex');
    files.push({ name, variant, index: 0, mediaType: 'video/mp4', bytes: bytes + (fake.lie ? 1 : 0), sha256 });
  }
  const inputs = job.inputs.map(({ role, path }) => `${role} ${path.split('/').at(-1)}`);
  return { files, result: { epoch: job.epoch, inputs } };
}

serveSupervisor(async (device, options) => {
  if (options.refuse) throw new Error(`${device} is not to be opened`);
  if (options.dieAtOpen) process.exit(3);
  return { run, async [Symbol.asyncDispose]() {} };
});
