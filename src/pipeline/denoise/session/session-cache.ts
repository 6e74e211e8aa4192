// Sessions kept for later runs: the few used last, within bounds of memory. Runs of an equal layout then record nothing.
import type { Backend } from '../../../backend/index.js';
import type { Transformer } from '../../../models/cosmos3-transformer/index.js';
import { layerElements } from '../../plan/cost.js';
import type { Conditions } from '../conditions.js';
import { mostJoinedRows, type SessionOptions, StepSession } from './step-session.js';
import { slotRows } from './text-slot.js';

export interface SessionCacheOptions {
  /** Most sessions; 0 keeps none. */
  readonly count: number;
  /** Most bytes of all sessions, the memory that recorded steps share included. A run that takes more is not kept. */
  readonly limitBytes: number;
  /** Branches of together at most so many rows go through the network together. */
  readonly joinedRows?: number | undefined;
}

/** What was kept and used so far. */
export interface SessionCacheUse {
  /** Runs that found their steps recorded, and those that recorded them. */
  readonly hits: number;
  readonly misses: number;
  readonly sessions: number;
  readonly graphs: number;
  readonly bytes: number;
}

/** A session in use. */
export interface HeldSession extends Disposable {
  readonly session: StepSession;
  readonly isReused: boolean;
  /** Nothing went wrong: the session may serve again. Without this it is thrown away. */
  settle(): void;
}

interface Entry {
  readonly session: StepSession;
  /** Temporaries of a step: all sessions share the same memory for them. */
  readonly workBytes: number;
}

export class SessionCache implements Disposable {
  readonly #options: SessionCacheOptions;
  /** In the order of use, the latest last. A session in use is not among them. */
  readonly #entries = new Map<string, Entry>();
  #hits = 0;
  #misses = 0;

  constructor(options: SessionCacheOptions) {
    this.#options = options;
  }

  get use(): SessionCacheUse {
    const entries = [...this.#entries.values()];
    return {
      hits: this.#hits,
      misses: this.#misses,
      sessions: entries.length,
      graphs: entries.reduce((sum, { session }) => sum + session.graphs, 0),
      bytes: this.#bytes,
    };
  }

  /** A session for these conditions: a kept one, or a new one. */
  hold(
    b: Backend,
    transformer: Transformer,
    conditions: Conditions,
    { stochastic, keepsVelocities }: Omit<SessionOptions, 'isKept' | 'joinedRows'>,
  ): HeldSession {
    const { count, limitBytes, joinedRows = mostJoinedRows } = this.#options;
    const workBytes = workOf(b, transformer, conditions, joinedRows);
    // Weights that come and go were recorded where they lay; a recorder wants what is made for it alone.
    const staysPut = transformer.layers.every(({ gen }) => gen.group === undefined);
    const isKept = count > 0 && !keepsVelocities && staysPut && workBytes <= limitBytes;
    // What recorded steps share is given back only when none are left, and a long run needs the room behind its last step.
    if (!isKept) this.clear();
    const key = `${keyOf(conditions)}${stochastic ? ' stochastic' : ''}`;
    const found = isKept ? this.#entries.get(key) : undefined;
    if (found) {
      this.#entries.delete(key);
      this.#hits++;
    } else this.#misses++;
    if (isKept && !found) this.#makeRoom(count - 1, limitBytes - workBytes);
    const session =
      found?.session ??
      StepSession.open(b, transformer, conditions, { isKept, stochastic, joinedRows, keepsVelocities });
    let isSettled = false;
    return {
      session,
      isReused: found !== undefined,
      settle: () => {
        isSettled = true;
      },
      [Symbol.dispose]: () => {
        if (!isKept || !isSettled || session.bytes + workBytes > limitBytes) {
          session[Symbol.dispose]();
          return;
        }
        this.#entries.set(key, { session, workBytes });
        this.#makeRoom(count, limitBytes);
      },
    };
  }

  /** Throws away all sessions that are not in use. */
  clear(): void {
    this.#makeRoom(0, 0);
  }

  [Symbol.dispose](): void {
    this.clear();
  }

  get #bytes(): number {
    const entries = [...this.#entries.values()];
    const shared = Math.max(0, ...entries.map(({ workBytes }) => workBytes));
    return entries.reduce((sum, { session }) => sum + session.bytes, shared);
  }

  #makeRoom(count: number, limitBytes: number): void {
    for (const [key, { session }] of this.#entries) {
      if (this.#entries.size <= count && this.#bytes <= limitBytes) return;
      this.#entries.delete(key);
      session[Symbol.dispose]();
    }
  }
}

/** Layout and places for texts. */
function keyOf({ layout, branches }: Conditions): string {
  return `${layout} ${branches.map(({ context }) => slotRows(context.text.textTokens)).join()}`;
}

/** Temporaries of the branch with the most rows, or of those that go together. */
function workOf(b: Backend, { config }: Transformer, { branches }: Conditions, joinedRows: number): number {
  const { hidden, inner, heads, kvHeads, headDim, mlp } = config;
  const rows = branches.map((branch) => branch.rows);
  const together = rows.reduce((sum, count) => sum + count, 0);
  const most = together <= joinedRows ? together : Math.max(...rows);
  const sizes = { hiddenSize: hidden, intermediateSize: inner, heads, kvHeads, headDim, gatedMlp: mlp === 'swiglu' };
  return most * layerElements(sizes) * (b.activationDtype === 'bf16' ? 2 : 4);
}
