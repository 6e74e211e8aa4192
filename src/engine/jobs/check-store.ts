// Whether a store is whole: the database in itself, its rules, and the disk against its records.
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { JobDatabase } from './database.js';

/** Where a store's files lie. */
export interface StoreFolders {
  readonly artifacts: string;
  readonly uploads: string;
}

interface FileRow {
  readonly file: string;
  readonly bytes: number;
}

/** Rules that no row may break, each as a query for those that do. */
const rules: Readonly<Record<string, string>> = {
  'completed without a result': `SELECT id FROM jobs WHERE status = 'completed' AND result IS NULL
    AND NOT EXISTS (SELECT 1 FROM artifacts WHERE job_id = jobs.id)`,
  'not completed but with artifacts': `SELECT DISTINCT jobs.id AS id FROM jobs JOIN artifacts ON job_id = jobs.id
    WHERE status <> 'completed'`,
  'started without a lease epoch': `SELECT id FROM jobs WHERE status = 'in_progress' AND (epoch < 1 OR attempts < 1)`,
  'waiting for an upload that is gone': `SELECT DISTINCT jobs.id AS id FROM jobs JOIN inputs ON job_id = jobs.id
    LEFT JOIN uploads USING (sha256) WHERE status IN ('queued', 'in_progress') AND uploads.file IS NULL`,
};

/** Everything that is wrong with a store, one line each; nothing when it is whole. No job may be committing meanwhile. */
export function checkStore(database: JobDatabase, folders: StoreFolders): readonly string[] {
  const found: string[] = [];
  for (const { integrity_check } of database.all<{ integrity_check: string }>('PRAGMA integrity_check')) {
    if (integrity_check !== 'ok') found.push(`database: ${integrity_check}`);
  }
  for (const { table } of database.all<{ table: string }>('PRAGMA foreign_key_check')) {
    found.push(`database: a row of ${table} points nowhere`);
  }
  for (const [what, sql] of Object.entries(rules)) {
    for (const { id } of database.all<{ id: string }>(sql)) found.push(`job ${id}: ${what}`);
  }
  found.push(...checkFiles('artifact', folders.artifacts, database.all<FileRow>('SELECT file, bytes FROM artifacts')));
  found.push(...checkFiles('upload', folders.uploads, database.all<FileRow>('SELECT file, bytes FROM uploads')));
  return found;
}

function checkFiles(what: string, folder: string, rows: readonly FileRow[]): string[] {
  const found: string[] = [];
  for (const { file, bytes } of rows) {
    const stat = lstatSync(join(folder, file), { throwIfNoEntry: false });
    if (!stat) found.push(`${what} ${file}: of record, but not on the disk`);
    else if (stat.size !== bytes) found.push(`${what} ${file}: ${stat.size} bytes on the disk, ${bytes} on record`);
  }
  const known = new Set(rows.map(({ file }) => file));
  for (const file of readdirSync(folder))
    if (!known.has(file)) found.push(`${what} ${file}: on the disk, not of record`);
  return found;
}
