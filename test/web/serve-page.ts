// One server with the default checkpoint for all browser tests, and the files that they drop on the page.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { makeRecipeMedia } from '../api/recipe-media.js';
import { startServer } from '../api/start-server.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the server. */
    readonly serverUrl: string;
    /** Folder with pictures, clips and actions. */
    readonly mediaFolder: string;
  }
}

/** Starts it. Returns how to end it. */
export default async function servePage(project: TestProject): Promise<() => Promise<void>> {
  const mediaFolder = mkdtempSync(join(tmpdir(), 'orrery-web-'));
  await makeRecipeMedia(mediaFolder);
  const server = await startServer();
  project.provide('serverUrl', server.url);
  project.provide('mediaFolder', mediaFolder);
  return async () => {
    await server[Symbol.asyncDispose]();
    rmSync(mediaFolder, { recursive: true, force: true });
  };
}
