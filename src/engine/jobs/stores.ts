// Where files lie: results of record, and inputs by their content.
import type { Readable } from 'node:stream';

/** Bytes from `start` up to and including `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Where files of record lie. A file appears whole, under its final name, or not at all. */
export interface ArtifactStore {
  /** Takes a finished file over: flushed, moved to its final name, the folder flushed. Gives its name in the store. */
  put(path: string, mediaType: string): Promise<string>;
  /** @throws ArtifactMissingError */
  read(file: string, range?: ByteRange): Promise<Readable>;
  /** Size in bytes, null when it is not there. */
  size(file: string): Promise<number | null>;
  delete(files: readonly string[]): Promise<void>;
  list(): Promise<readonly string[]>;
  /** Removes every file that is not of record, and everything unfinished. Gives the names removed. */
  sweep(isOfRecord: (file: string) => boolean): Promise<readonly string[]>;
}

export interface UploadRecord {
  readonly sha256: string;
  readonly mediaType: string;
  readonly bytes: number;
  readonly file: string;
  readonly createdAt: number;
  /** Removed after this unless a job reads it that is listed, waits or runs. */
  readonly expiresAt: number;
}

/** Inputs, by content. Kept as long as a listed job that read them, so that it can be looked at and asked for again; others for a while. */
export interface UploadStore {
  /** A path in the store's own folder to stream an upload to. */
  temporaryPath(): string;
  /** Takes a temporary file over; one with the same content is kept once. */
  keep(path: string, mediaType: string): Promise<UploadRecord>;
  get(sha256: string): Promise<UploadRecord | null>;
  /** Absolute path of the file of an upload. */
  path(upload: UploadRecord): string;
  /** @throws ArtifactMissingError */
  read(upload: UploadRecord, range?: ByteRange): Promise<Readable>;
  /** Removes what nobody reads and whose time is over. Gives the hashes. */
  expire(): Promise<readonly string[]>;
}
