// Keys and values of prompts, shared by runs: a prompt that was run before, above all the usual negative one, is not run again.
import { createHash } from 'node:crypto';
import { disposeTensors, dtypeBytes, elementCount } from '../../backend/index.js';
import { type KvCache, prefill } from '../../models/cosmos3-transformer/index.js';
import type { Networks } from '../networks.js';

/** What was kept and used so far. */
export interface TextCacheUse {
  /** Prompts that were there, and those that had to be run. */
  readonly hits: number;
  readonly misses: number;
  readonly prompts: number;
  /** Exact size of all keys and values that are there. */
  readonly bytes: number;
  readonly limitBytes: number;
}

export interface TextCacheOptions {
  /** Most bytes kept for later runs; prompts of a run under way may take more. 0 keeps nothing. */
  readonly limitBytes: number;
  /** What the values depend on besides the tokens: the checkpoint, the device and its precision. */
  readonly network?: string;
}

/** A prompt in use. It is not thrown out until it is disposed of. */
export interface HeldText extends Disposable {
  readonly kv: KvCache;
  /** It had been run before. */
  readonly isReused: boolean;
}

interface Entry {
  readonly kv: KvCache;
  readonly bytes: number;
  holders: number;
}

/** Prompts of one transformer on one device; the least recently used go first. */
export class TextCache implements Disposable {
  readonly #limitBytes: number;
  readonly #network: string;
  /** In the order of use, the latest last. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;
  #hits = 0;
  #misses = 0;

  constructor({ limitBytes, network = '' }: TextCacheOptions) {
    this.#limitBytes = limitBytes;
    this.#network = network;
  }

  get use(): TextCacheUse {
    return {
      hits: this.#hits,
      misses: this.#misses,
      prompts: this.#entries.size,
      bytes: this.#bytes,
      limitBytes: this.#limitBytes,
    };
  }

  /** Keys and values of a prompt, run through the text tower only where they are not there. */
  hold({ backend, transformer }: Networks, tokens: readonly number[]): HeldText {
    const ids = Int32Array.from(tokens);
    const key = createHash('sha256').update(`${this.#network}\n`).update(new Uint8Array(ids.buffer)).digest('hex');
    const found = this.#entries.get(key);
    if (found) this.#hits++;
    else this.#misses++;
    const entry = found ?? newEntry(prefill(backend, transformer, ids));
    if (!found) this.#bytes += entry.bytes;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    entry.holders++;
    this.#trim();
    let isHeld = true;
    return {
      kv: entry.kv,
      isReused: found !== undefined,
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        entry.holders--;
        this.#trim();
      },
    };
  }

  /** Frees all prompts that nobody holds. */
  clear(): void {
    this.#trim(0);
  }

  [Symbol.dispose](): void {
    for (const [key, entry] of this.#entries) this.#drop(key, entry);
  }

  #trim(limitBytes = this.#limitBytes): void {
    for (const [key, entry] of this.#entries) {
      if (this.#bytes <= limitBytes) return;
      if (entry.holders === 0) this.#drop(key, entry);
    }
  }

  #drop(key: string, { kv, bytes }: Entry): void {
    this.#entries.delete(key);
    this.#bytes -= bytes;
    disposeTensors(kv.layers);
  }
}

function newEntry(kv: KvCache): Entry {
  return { kv, bytes: textBytes(kv), holders: 0 };
}

/** Bytes of a prompt's keys and values. */
export function textBytes({ layers }: KvCache): number {
  return layers
    .flatMap(({ k, v }) => [k, v])
    .reduce((sum, { shape, dtype }) => sum + elementCount(shape) * dtypeBytes(dtype), 0);
}
