// Moves a finished file to its final name so that it is there, whole, after a power cut.
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Flushes the file, moves it (within one file system), and flushes the folder that holds the new name. */
export async function moveDurably(from: string, to: string): Promise<void> {
  await flush(from, 'r+');
  await rename(from, to);
  await flush(dirname(to), 'r');
}

async function flush(path: string, flags: string): Promise<void> {
  const handle = await open(path, flags);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
