// A store full of finished pictures, written straight into its database: a gallery to be looked at without making each of them.
import { linkSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { JobDatabase } from '../../src/engine/jobs/database.js';
import { insertJob } from '../../src/engine/jobs/queue/insert-job.js';
import { anyone } from '../../src/server/owner.js';

/** Colours of the small pictures, in turn. */
export const colours = ['crimson', 'seagreen', 'royalblue', 'goldenrod'] as const;

/** The first was accepted then, each further one a minute later. */
export const firstMs = Date.UTC(2026, 0, 1, 12);

/** What each asks for: `A crimson ball, number 1`; every tenth is a clip by its task. */
export function promptOf(number: number): string {
  return `A ${colours[number % colours.length]} ball, number ${number}`;
}

/** Makes a store of `count` finished jobs, numbered from 1, the last one newest. */
export async function seedJobs(store: string, count: number): Promise<void> {
  const folder = join(store, 'artifacts');
  mkdirSync(folder, { recursive: true });
  const sources: string[] = [];
  for (const background of colours) {
    const path = join(store, `${background}.webp`);
    writeFileSync(
      path,
      await sharp({ create: { width: 320, height: 192, channels: 3, background } })
        .webp()
        .toBuffer(),
    );
    sources.push(path);
  }
  using database = new JobDatabase(join(store, 'jobs.db'));
  database.transact(() => {
    for (let number = 1; number <= count; number++) {
      const source = sources[number % sources.length] ?? '';
      const id = `image_gen_${String(number).padStart(32, '0')}`;
      writeJob(database, id, number);
      const file = `${id}.webp`;
      linkSync(source, join(folder, file));
      const bytes = statSync(source).size;
      database.run(
        `INSERT INTO artifacts (id, job_id, variant, position, media_type, bytes, sha256, file, created_at)
         VALUES (:id, :id, 'thumbnail', 0, 'image/webp', :bytes, :id, :file, 0)`,
        { id, bytes, file },
      );
    }
  });
}

function writeJob(database: JobDatabase, id: string, number: number): void {
  const now = firstMs + number * 60_000;
  const isClip = number % 10 === 0;
  const task = isClip ? 'text-to-video' : 'text-to-image';
  const request = { fields: { prompt: promptOf(number) }, extra: { task }, inputs: [] };
  insertJob(
    database,
    { owner: anyone, kind: isClip ? 'video' : 'image', requestId: id, request, plan: null, outputs: [] },
    { id, hash: id, now, lifetimeSeconds: null },
  );
  const summary = { task, width: 320, height: 192, frames: isClip ? 25 : 1, fps: 24, steps: 16, guidance: 3 };
  database.run(
    `UPDATE jobs SET status = 'completed', started_at = :now, completed_at = :now, attempts = 1, epoch = 1,
       result = '{}', task = :task, summary = :summary WHERE id = :id`,
    {
      id,
      now,
      task,
      summary: JSON.stringify({ ...summary, flowShift: 5, seed: number, hasSound: false, hasAction: false }),
    },
  );
}
