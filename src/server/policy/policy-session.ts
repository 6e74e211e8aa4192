// One robot on a socket: its session, and an answer to each of its observations.
import { crc32 } from 'node:zlib';
import { RequestError } from '../../protocol/index.js';
import { awaitJob } from '../jobs/await-job.js';
import { videoOutputs } from '../jobs/job-outputs.js';
import { enqueue, prepare } from '../jobs/submission.js';
import { viewAction } from '../jobs/video-view.js';
import { describeEnd, drop } from '../routes/video-sync.js';
import type { ServerContext } from '../server-context.js';
import { checkActions, contractOf } from './action-contract.js';
import { NdArray } from './nd-array.js';
import { flattenObservation, readPrompt } from './observation.js';
import { readPolicyParams } from './policy-params.js';

type Named = Readonly<Record<string, unknown>>;

/** Runs before those who wait at leisure: a robot stands still meanwhile. */
const priority = 10;

/** Names in a message that are no part of the observation. */
const controlNames = ['endpoint', 'session_id', 'seed', 'reset'];

/** A connection's state. */
export class PolicySession {
  readonly #context: ServerContext;
  readonly #config: Named;
  readonly #owner: string;
  readonly #gone: AbortSignal;
  #session: string | null = null;
  #count = 0;

  /** @param gone aborts when the robot has left */
  constructor(
    context: ServerContext,
    { config, owner, gone }: { readonly config: Named; readonly owner: string; readonly gone: AbortSignal },
  ) {
    this.#context = context;
    this.#config = config;
    this.#owner = owner;
    this.#gone = gone;
  }

  /**
   * Answers a message: actions as float32 `[steps, numbers]`, or the reply to a reset.
   * @throws RequestError for an observation that cannot be used; Error when the model fails
   */
  async answer(message: Named): Promise<NdArray | Named> {
    if (message.endpoint === 'reset') {
      this.#session = null;
      return { status: 'reset successful' };
    }
    const begin = performance.now();
    const session =
      typeof message.session_id === 'string' && message.session_id !== ''
        ? message.session_id
        : (this.#session ?? 'default');
    if (session !== this.#session) this.#count = 0;
    this.#session = session;
    const requestId = `robot-${session.replace(/[^\w.-]/g, '_').slice(0, 64)}-${this.#count++}`;
    const actions = await this.#infer(message, requestId);
    this.#context.metrics.policyStep((performance.now() - begin) / 1000);
    return actions;
  }

  async #infer(message: Named, requestId: string): Promise<NdArray> {
    const context = this.#context;
    const { planner, settings, queue } = context;
    const observation = flattenObservation(
      Object.fromEntries(Object.entries(message).filter(([name]) => !controlNames.includes(name))),
    );
    const isObserved = (name: string) => name.startsWith('observation/') || name === 'prompt';
    const robot = Object.fromEntries(Object.entries(observation).filter(([name]) => isObserved(name)));
    const extra = Object.fromEntries(Object.entries(observation).filter(([name]) => !isObserved(name)));
    const space = typeof this.#config.action_space === 'string' ? { action_space: this.#config.action_space } : {};
    const { params, wanted, ignored } = readPolicyParams({
      seed: this.#seedOf(message.seed, requestId, readPrompt(observation)),
      ...space,
      ...extra,
      robot_obs: robot,
    });
    const prepared = await prepare(context, { fields: {}, extra: params, wanted, ignored });
    const { record } = await enqueue(context, prepared, {
      owner: this.#owner,
      requestId,
      kind: 'policy',
      outputs: videoOutputs,
      transient: true,
      priority,
      deadlineAt: Date.now() + settings.syncTimeoutSeconds * 1000,
    });
    const done = await awaitJob(queue, record.id, {
      timeoutSeconds: settings.syncTimeoutSeconds,
      signal: this.#gone,
      ending: context.ending,
    });
    const action = viewAction(done);
    await drop(context, record.id);
    if (done.status !== 'completed' || action === null) {
      const { reason, param, message: words } = describeEnd(done, `${planner.describe().id} made no actions`);
      throw new RequestError(reason, param, words);
    }
    checkActions(action.data, contractOf(this.#config));
    const numbers = Float32Array.from(action.data.flat());
    return new NdArray('<f4', [action.data.length, action.data[0]?.length ?? 0], new Uint8Array(numbers.buffer));
  }

  /** A seed of its own for each observation, the same whenever the same session repeats. Source: api spec, 3.5. */
  #seedOf(given: unknown, requestId: string, prompt: string): number {
    if (typeof given === 'number' && Number.isInteger(given)) return given;
    return crc32(`0|${this.#session}|${requestId}|${prompt}`) & 0x7fffffff;
  }
}
