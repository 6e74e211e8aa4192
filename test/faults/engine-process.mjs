// A server without its HTTP: an engine on the fake pipeline in a process of its own, driven and killed by a test.
import { fileURLToPath } from 'node:url';
import { openJobEngine } from '../../dist/engine/jobs/open-job-engine.js';

const [folder, limits, workers] = process.argv.slice(2);
const engine = await openJobEngine({
  folder,
  devices: Array.from({ length: Number(workers) }, (_, i) => ({ device: `fake:${i}`, options: {} })),
  workerEntry: fileURLToPath(new URL('./fake-worker.mjs', import.meta.url)),
  limits: JSON.parse(limits),
  lockTimeoutMs: 10_000,
});
engine.supervisor.start();

const pids = () => engine.supervisor.workers.flatMap(({ pid }) => (pid === null ? [] : [pid]));
const beat = setInterval(() => process.send({ type: 'pids', pids: pids() }), 10);

process.on('message', async (message) => {
  if (message.type === 'enqueue') {
    const { record } = await engine.queue.enqueue(message.job);
    process.send({ type: 'accepted', key: message.job.idempotencyKey, id: record.id });
  } else if (message.type === 'counts') {
    process.send({ type: 'counts', counts: await engine.queue.counts() });
  } else {
    clearInterval(beat);
    await engine.close();
    process.disconnect();
  }
});
process.on('disconnect', () => process.exit(0));
process.send({ type: 'up' });
