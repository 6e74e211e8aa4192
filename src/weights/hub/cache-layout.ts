// The hub's cache on disk, shared with other programs: models--owner--name/{blobs, snapshots/COMMIT, refs}.
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

const commitPattern = /^[0-9a-f]{40}$/;

/** The folder of a repository in the cache. */
export function repositoryFolder(cacheDir: string, repo: string): string {
  return join(cacheDir, `models--${repo.replaceAll('/', '--')}`);
}

/** The snapshot folder of a revision, if the cache knows one. It may hold only some of the files. */
export function findSnapshot(cacheDir: string, repo: string, revision: string): string | undefined {
  const folder = repositoryFolder(cacheDir, repo);
  let commit = revision;
  if (!commitPattern.test(revision)) {
    try {
      commit = readFileSync(join(folder, 'refs', revision), 'utf8').trim();
    } catch {
      return undefined;
    }
  }
  const snapshot = join(folder, 'snapshots', commit);
  return commitPattern.test(commit) && existsSync(snapshot) ? snapshot : undefined;
}

/** Remembers which commit a branch or tag stands for. */
export async function writeRef(cacheDir: string, repo: string, revision: string, commit: string): Promise<void> {
  if (revision === commit) return;
  const file = join(repositoryFolder(cacheDir, repo), 'refs', revision);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, commit);
}

/** Puts a blob under its name into a snapshot: a relative link, or a copy where links are not allowed. */
export async function linkBlob(blob: string, pointer: string): Promise<void> {
  if (existsSync(pointer)) return;
  await mkdir(dirname(pointer), { recursive: true });
  const temporary = `${pointer}.${process.pid}.tmp`;
  await rm(temporary, { force: true });
  try {
    await symlink(relative(dirname(pointer), blob), temporary);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && (error.code === 'EPERM' || error.code === 'ENOSYS')))
      throw error;
    await copyFile(blob, temporary);
  }
  await rename(temporary, pointer);
}
