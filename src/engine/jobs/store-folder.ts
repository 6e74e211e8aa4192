// The folder that a server keeps everything in, made where it is missing.
import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreFolderError } from './errors.js';

/** Makes the folder and those above it. @throws StoreFolderError where it cannot be one that is written to */
export function openStoreFolder(folder: string): void {
  try {
    make(folder);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new StoreFolderError(folder, error);
  }
}

/** Folder by folder: `recursive` never returns where the file system takes no folders, as under `/proc`. */
function make(folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  if (found !== undefined) throw new Error('it is a file');
  make(dirname(folder));
  mkdirSync(folder);
}
