// Finished jobs of several kinds to look at, made through the server's own door, small and quick.
import { createClient, type Job, type JobForm, type OrreryClient } from '../../src/protocol/index.js';

/** One result of each kind. */
export interface SeenJobs {
  readonly client: OrreryClient;
  readonly picture: Job;
  readonly clip: Job;
  /** Of the same length as `clip`, from another seed. */
  readonly other: Job;
  /** With edges and blur that the server made from `clip`. */
  readonly transfer: Job;
  readonly policy: Job;
}

/** Waits for a job. @throws Error with what went wrong with it */
export async function finished(client: OrreryClient, id: string): Promise<Job> {
  for (;;) {
    const job = await client.job(id);
    if (job.status === 'completed') return job;
    if (job.status !== 'queued' && job.status !== 'in_progress') throw new Error(JSON.stringify(job.error));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Makes them, one after the other; those that the server has already are taken as they are. Their prompts are no other test's. */
export async function makeJobs(url: string): Promise<SeenJobs> {
  const client = createClient({ baseUrl: url });
  const make = async (prompt: string, task: string, { extra_params: extra = {}, ...form }: JobForm = {}) => {
    const { data } = await client.jobs({ q: prompt, status: 'completed' });
    const made = data.find((job) => job.prompt === prompt);
    if (made) return client.job(made.id);
    const params = typeof extra === 'object' ? extra : {};
    const small = { prompt, num_inference_steps: 2, seed: 7, ...form };
    return finished(client, (await client.createJob({ ...small, extra_params: { task, ...params } })).id);
  };
  const small = { size: '64x64', num_frames: 9, fps: 8 };
  const picture = await make('A ball to be seen.', 'text-to-image', { size: '64x64' });
  const clip = await make('A ball that rolls.', 'text-to-video', small);
  const other = await make('A ball that stops.', 'text-to-video', { ...small, seed: 8 });
  const { file_id: video } = await client.upload(await client.jobContent(clip.id));
  const { file_id: image } = await client.upload(await client.jobContent(picture.id));
  const transfer = await make('A ball to be followed.', 'transfer', {
    video_reference: { file_id: video },
    num_frames: 5,
    extra_params: { edge: true, blur: true, num_video_frames_per_chunk: 5 },
  });
  const policy = await make('Pick it up.', 'policy', {
    image_reference: { file_id: image },
    num_frames: 5,
    extra_params: { domain_name: 'bridge_orig_lerobot', raw_action_dim: 10 },
  });
  return { client, picture, clip, other, transfer, policy };
}
