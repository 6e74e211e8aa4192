// Uploaded inputs on a local disk, kept once for each content, counted by the jobs that read them.
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { JobDatabase } from '../jobs/database.js';
import { ArtifactMissingError } from '../jobs/errors.js';
import type { ByteRange, UploadRecord, UploadStore } from '../jobs/types.js';
import { moveDurably } from './durable-move.js';
import { hashFile } from './hash-file.js';

export interface UploadOptions {
  /** How long an upload is kept that no job of record reads. */
  readonly lifetimeSeconds?: number | undefined;
  readonly now?: (() => number) | undefined;
}

interface UploadRow {
  readonly sha256: string;
  readonly media_type: string;
  readonly bytes: number;
  readonly file: string;
  readonly created_at: number;
  readonly expires_at: number;
}

const temporaryPrefix = 'incoming-';

export class DiskUploadStore implements UploadStore {
  readonly #database: JobDatabase;
  readonly #lifetimeMs: number;
  readonly #now: () => number;

  constructor(
    readonly folder: string,
    database: JobDatabase,
    { lifetimeSeconds = 3600, now = Date.now }: UploadOptions = {},
  ) {
    mkdirSync(folder, { recursive: true });
    this.#database = database;
    this.#lifetimeMs = lifetimeSeconds * 1000;
    this.#now = now;
  }

  temporaryPath(): string {
    return join(this.folder, `${temporaryPrefix}${randomUUID()}`);
  }

  async keep(path: string, mediaType: string): Promise<UploadRecord> {
    const sha256 = await hashFile(path);
    const { size: bytes } = await stat(path);
    // A name of its own, never one made of the content: so that removing an old record's file cannot hit a new one.
    const file = randomUUID();
    await moveDurably(path, join(this.folder, file));
    const now = this.#now();
    const expiresAt = now + this.#lifetimeMs;
    const kept = this.#database.transact(() => {
      const known = this.#database.run('UPDATE uploads SET expires_at = :expiresAt WHERE sha256 = :sha256', {
        sha256,
        expiresAt,
      });
      if (known > 0) return false;
      this.#database.run(
        `INSERT INTO uploads (sha256, media_type, bytes, file, created_at, expires_at)
         VALUES (:sha256, :mediaType, :bytes, :file, :now, :expiresAt)`,
        { sha256, mediaType, bytes, file, now, expiresAt },
      );
      return true;
    }, true);
    if (!kept) await rm(join(this.folder, file), { force: true });
    const record = await this.get(sha256);
    if (!record) throw new Error(`upload ${sha256} expired while it was kept; give uploads a longer life`);
    return record;
  }

  async get(sha256: string): Promise<UploadRecord | null> {
    const row = this.#database.get<UploadRow>('SELECT * FROM uploads WHERE sha256 = :sha256', { sha256 });
    return row ? toRecord(row) : null;
  }

  path({ file }: UploadRecord): string {
    return join(this.folder, file);
  }

  async read(upload: UploadRecord, range?: ByteRange): Promise<Readable> {
    try {
      const handle = await open(this.path(upload), 'r');
      return handle.createReadStream(range ? { start: range.start, end: range.end } : {});
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
        throw new ArtifactMissingError(upload.file);
      throw error;
    }
  }

  async expire(): Promise<readonly string[]> {
    const gone = this.#database.transact(() => {
      const rows = this.#database.all<UploadRow>(
        `SELECT * FROM uploads WHERE expires_at <= :now AND sha256 NOT IN (
           SELECT inputs.sha256 FROM inputs JOIN jobs ON jobs.id = inputs.job_id
           WHERE jobs.transient = 0 OR jobs.status IN ('queued', 'in_progress'))`,
        { now: this.#now() },
      );
      for (const { sha256 } of rows) this.#database.run('DELETE FROM uploads WHERE sha256 = :sha256', { sha256 });
      return rows;
    });
    for (const { file } of gone) await rm(join(this.folder, file), { force: true });
    return gone.map(({ sha256 }) => sha256);
  }

  /** Removes files that are not of record: unfinished uploads, and those whose record was removed before a crash. */
  async sweep(): Promise<readonly string[]> {
    const rows = this.#database.all<UploadRow>('SELECT * FROM uploads');
    const known = new Set(rows.map(({ file }) => file));
    const strays = (await readdir(this.folder)).filter((file) => !known.has(file));
    for (const file of strays) await rm(join(this.folder, file), { recursive: true, force: true });
    return strays;
  }
}

function toRecord(row: UploadRow): UploadRecord {
  return {
    sha256: row.sha256,
    mediaType: row.media_type,
    bytes: row.bytes,
    file: row.file,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
