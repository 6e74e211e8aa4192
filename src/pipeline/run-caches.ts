// What outlives a run and serves later ones of the same networks: prompts that were run, steps that were recorded.
import { TextCache, type TextCacheUse } from './conditioning/text-cache.js';
import { SessionCache, type SessionCacheUse } from './denoise/session/session-cache.js';

export interface RunCacheOptions {
  /** Most bytes of texts that nobody uses; 0 keeps none. */
  readonly textBytes: number;
  /** Most shapes whose recorded steps are kept; 0 keeps none. */
  readonly sessions: number;
  /** Most bytes of those. */
  readonly sessionBytes: number;
  /** Branches of together at most so many rows go through the network together; as many as help where absent. */
  readonly joinedRows?: number | undefined;
  /** What the values depend on besides a plan: the checkpoint, the device and its precision. */
  readonly network?: string;
}

export interface RunCacheUse {
  readonly texts: TextCacheUse;
  readonly sessions: SessionCacheUse;
}

/** Of one set of networks; dispose of it before them. */
export class RunCaches implements Disposable {
  readonly texts: TextCache;
  readonly sessions: SessionCache;

  constructor({ textBytes, sessions, sessionBytes, joinedRows, network = '' }: RunCacheOptions) {
    this.texts = new TextCache({ limitBytes: textBytes, network });
    this.sessions = new SessionCache({ count: sessions, limitBytes: sessionBytes, joinedRows });
  }

  /** Keeps nothing beyond a run. */
  static none(): RunCaches {
    return new RunCaches({ textBytes: 0, sessions: 0, sessionBytes: 0 });
  }

  get use(): RunCacheUse {
    return { texts: this.texts.use, sessions: this.sessions.use };
  }

  /** Frees all that no run is using. */
  giveBack(): void {
    this.sessions.clear();
    this.texts.clear();
  }

  [Symbol.dispose](): void {
    this.sessions[Symbol.dispose]();
    this.texts[Symbol.dispose]();
  }
}
