// A file that does nothing but take room: given up when the disk is full, so that jobs can still end and be deleted.
import { closeSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** Room for some hundred ends of jobs. */
const reserveBytes = 4 * 2 ** 20;
/** It is taken again once this many times as much is free. */
const spareFactor = 8;

/** Room that can be given up. */
export interface Reserve {
  /** Gives the room up. False when there is none left. */
  release(): boolean;
  /** Takes the room again where there is plenty. */
  restore(): void;
}

/** A reserve on the disk of its own file. */
export class DiskReserve implements Reserve {
  #isHeld: boolean;

  constructor(readonly path: string) {
    this.#isHeld = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) >= reserveBytes;
    this.restore();
  }

  release(): boolean {
    if (!this.#isHeld) return false;
    rmSync(this.path, { force: true });
    this.#isHeld = false;
    return true;
  }

  restore(): void {
    if (this.#isHeld || !this.#isRoomy()) return;
    try {
      const file = openSync(this.path, 'w');
      try {
        // Random enough that no file system makes it small.
        const piece = Uint8Array.from({ length: 2 ** 16 }, (_, i) => (i * 2_654_435_761) >>> 13);
        for (let at = 0; at < reserveBytes; at += piece.length) writeSync(file, piece);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      this.#isHeld = true;
    } catch {
      rmSync(this.path, { force: true });
    }
  }

  #isRoomy(): boolean {
    const { bavail, bsize } = statfsSync(dirname(this.path));
    return bavail * bsize >= spareFactor * reserveBytes;
  }
}

/** Whether a statement failed for want of room. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'SQLITE_FULL' || error.code === 'ENOSPC');
}
