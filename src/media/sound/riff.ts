// RIFF containers (WAV, WebP): their chunks, read and written.

export interface RiffChunk {
  /** Four characters. */
  readonly id: string;
  /** A view into the file; shorter than declared if the file is. */
  readonly data: Buffer;
  /** Length its header declares, in bytes. */
  readonly declared: number;
}

/** The chunks of a RIFF file in order, whatever its form. */
export function riffChunks(file: Buffer): RiffChunk[] {
  return chunkList(file.subarray(12));
}

/** Chunks laid end to end, as inside a LIST. */
export function chunkList(bytes: Buffer): RiffChunk[] {
  const chunks: RiffChunk[] = [];
  for (let at = 0; at + 8 <= bytes.length; ) {
    const declared = bytes.readUInt32LE(at + 4);
    chunks.push({
      id: bytes.toString('latin1', at, at + 4),
      data: bytes.subarray(at + 8, at + 8 + declared),
      declared,
    });
    at += 8 + declared + (declared % 2);
  }
  return chunks;
}

/** A chunk with its header and its padding to an even length. */
export function chunkBytes(id: string, data: Uint8Array): Buffer {
  const bytes = Buffer.alloc(8 + data.length + (data.length % 2));
  bytes.write(id, 'latin1');
  bytes.writeUInt32LE(data.length, 4);
  bytes.set(data, 8);
  return bytes;
}

/** A whole file of the given form, `WAVE` or `WEBP`. */
export function riffFile(form: string, chunks: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(12);
  head.write('RIFF', 'latin1');
  head.writeUInt32LE(
    chunks.reduce((sum, chunk) => sum + chunk.length, 4),
    4,
  );
  head.write(form, 8, 'latin1');
  return Buffer.concat([head, ...chunks]);
}
