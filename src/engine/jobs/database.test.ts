import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { JobDatabase, openConnection } from './database.js';
import { StoreVersionError } from './errors.js';
import { migrations } from './migrations.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-database-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a store is made with the newest schema and durable settings', () => {
  using database = new JobDatabase(join(folder, 'deep/jobs.db'));
  expect(database.all('PRAGMA user_version')).toEqual([{ user_version: migrations.length }]);
  expect(database.all('PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }]);
  expect(database.all('PRAGMA synchronous')).toEqual([{ synchronous: 2 }]);
  expect(database.all('PRAGMA foreign_keys')).toEqual([{ foreign_keys: 1 }]);
});

test('a store of a newer program is refused', () => {
  const path = join(folder, 'jobs.db');
  new JobDatabase(path)[Symbol.dispose]();
  const connection = openConnection(path);
  connection.pragma('user_version = 99');
  connection.close();
  expect(() => new JobDatabase(path)).toThrow(StoreVersionError);
  expect(() => new JobDatabase(path)).toThrow(`schema version 99, this program knows up to ${migrations.length}`);
});

test('a transaction is all or nothing, also inside another', () => {
  using database = new JobDatabase(join(folder, 'jobs.db'));
  const put = (key: string) => database.run('INSERT INTO meta VALUES (:key, :key)', { key });
  database.transact(() => put('kept'));
  expect(() =>
    database.transact(() => {
      put('lost');
      database.transact(() => put('lost too'));
      throw new Error('stop');
    }),
  ).toThrow('stop');
  expect(database.all('SELECT key FROM meta')).toEqual([{ key: 'kept' }]);
});

test('a setting is made once and kept', () => {
  const path = join(folder, 'jobs.db');
  const first = new JobDatabase(path);
  expect(first.setting('secret', () => 'one')).toBe('one');
  first[Symbol.dispose]();
  using second = new JobDatabase(path);
  expect(second.setting('secret', () => 'two')).toBe('one');
});

test('rows that break the rules are refused by the database itself', () => {
  using database = new JobDatabase(join(folder, 'jobs.db'));
  const insert = (status: string) =>
    database.run(
      `INSERT INTO jobs (id, owner, kind, request_id, request_hash, request, outputs, status, priority, transient,
         created_at, queued_at) VALUES (:status, 'o', 'k', 'r', 'h', '{}', '[]', :status, 0, 0, 1, 1)`,
      { status },
    );
  expect(insert('queued')).toBe(1);
  for (const status of ['in_progress', 'completed', 'failed', 'lost']) {
    expect(() => insert(status)).toThrow(/CHECK constraint failed/);
  }
});
