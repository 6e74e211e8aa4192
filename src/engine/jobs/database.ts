// The embedded database of the job store: durable settings, versioned schema, cached statements.
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type Libsql from 'libsql';
import { DiskReserve, isDiskFull, type Reserve } from './disk-reserve.js';
import { StoreVersionError } from './errors.js';
import { migrations } from './migrations.js';

/** A value that can be bound. No booleans: the driver aborts the process on one. */
export type Bindable = string | number | null;
type Parameters = Readonly<Record<string, Bindable>>;

/** A connection. All calls are synchronous. */
export class JobDatabase implements Disposable {
  readonly #connection: Libsql.Database;
  readonly #reserve: Reserve;
  readonly #statements = new Map<string, Libsql.Statement>();

  /**
   * Opens or creates the database and brings its schema up to date.
   * @throws StoreVersionError when a newer program wrote it; SqliteError when it is no database or damaged
   */
  constructor(
    readonly path: string,
    reserve?: Reserve,
  ) {
    mkdirSync(dirname(path), { recursive: true });
    this.#reserve = reserve ?? new DiskReserve(join(dirname(path), 'reserve'));
    this.#connection = openConnection(path);
    try {
      this.#connection.pragma('journal_mode = WAL');
      this.#connection.pragma('synchronous = FULL');
      this.#connection.pragma('busy_timeout = 5000');
      this.#connection.pragma('foreign_keys = ON');
      this.#migrate();
    } catch (error) {
      this.#connection.close();
      throw error;
    }
  }

  /** Rows as objects by column name. The caller states their form. */
  all<Row>(sql: string, parameters: Parameters = {}): Row[] {
    return this.#prepare(sql).all(parameters) as Row[];
  }

  /** The first row. */
  get<Row>(sql: string, parameters: Parameters = {}): Row | undefined {
    // All rows are read: a half-read statement would keep its snapshot open.
    return this.all<Row>(sql, parameters)[0];
  }

  /** Gives the number of rows changed. */
  run(sql: string, parameters: Parameters = {}): number {
    return this.#prepare(sql).run(parameters).changes;
  }

  /**
   * Runs `body` as one step: all of it or, when it throws, nothing. On disk when this returns.
   * @param isNew it adds something: on a full disk it fails at once. Everything else ends or frees something and may use the reserve.
   */
  transact<T>(body: () => T, isNew = false): T {
    if (this.#connection.inTransaction) return body();
    try {
      return this.#attempt(body);
    } catch (error) {
      if (isNew || !isDiskFull(error) || !this.#reserve.release()) throw error;
      return this.#attempt(body);
    }
  }

  /** Takes the reserve again that a full disk cost, where there is room. */
  restoreReserve(): void {
    this.#reserve.restore();
  }

  #attempt<T>(body: () => T): T {
    this.#connection.exec('BEGIN IMMEDIATE');
    try {
      const result = body();
      this.#connection.exec('COMMIT');
      return result;
    } catch (error) {
      if (this.#connection.inTransaction) this.#connection.exec('ROLLBACK');
      throw error;
    }
  }

  /** A value that the store keeps under a name; made and kept by the first call. */
  setting(key: string, make: () => string): string {
    return this.transact(() => {
      const found = this.get<{ value: string }>('SELECT value FROM meta WHERE key = :key', { key });
      if (found) return found.value;
      const value = make();
      this.run('INSERT INTO meta (key, value) VALUES (:key, :value)', { key, value });
      return value;
    });
  }

  [Symbol.dispose](): void {
    this.#statements.clear();
    if (this.#connection.open) this.#connection.close();
  }

  #prepare(sql: string): Libsql.Statement {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.#connection.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #migrate(): void {
    const version = () => this.get<{ user_version: number }>('PRAGMA user_version')?.user_version ?? 0;
    if (version() > migrations.length) throw new StoreVersionError(this.path, version(), migrations.length);
    for (;;) {
      // Read again inside the transaction: another process may have taken the step meanwhile.
      const done = this.transact(() => {
        const from = version();
        const step = migrations[from];
        if (step === undefined) return true;
        this.#connection.exec(`${step}; PRAGMA user_version = ${from + 1};`);
        return false;
      });
      if (done) return;
    }
  }
}

/** Opens a connection as it is, without schema or settings. */
export function openConnection(path: string): Libsql.Database {
  // Loaded when first needed: the package loads its native part on import.
  const Database: typeof Libsql = createRequire(import.meta.url)('libsql');
  return new Database(path, { timeout: 5000 });
}
