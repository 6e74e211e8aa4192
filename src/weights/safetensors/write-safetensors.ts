// Writing safetensors files: streamed, complete or not there at all.
import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type DType, dtypeBytes, elementCount } from '../../backend/index.js';
import { fileDtypes } from './header.js';

/** A tensor to write. Bytes may be made on demand, so that a whole model need not be in memory. */
export interface WritableTensor {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: readonly number[];
  /** Little-endian, `elementCount(shape) * dtypeBytes(dtype)` bytes. */
  readonly bytes: Uint8Array | (() => Uint8Array | Promise<Uint8Array>);
}

const chunkBytes = 64 << 20;

function makeHeader(tensors: readonly WritableTensor[], metadata: Readonly<Record<string, string>>): Uint8Array {
  const header: Record<string, unknown> = Object.keys(metadata).length > 0 ? { __metadata__: metadata } : {};
  let position = 0;
  for (const { name, dtype, shape } of tensors) {
    if (name === '__metadata__' || name in header) throw new TypeError(`two tensors named ${name}`);
    const end = position + elementCount(shape) * dtypeBytes(dtype);
    header[name] = { dtype: fileDtypes[dtype], shape, data_offsets: [position, end] };
    position = end;
  }
  const json = new TextEncoder().encode(JSON.stringify(header));
  const padded = Math.ceil(json.length / 8) * 8;
  const bytes = new Uint8Array(8 + padded).fill(0x20);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(padded), true);
  bytes.set(json, 8);
  return bytes;
}

/**
 * Writes tensors to a file beside its final name and renames it: a reader sees the old file or the whole new one.
 * Wider element types come first, then names in order, so that every tensor is aligned and the same tensors give the same bytes.
 * @throws TypeError for a repeated name or bytes of the wrong length; the system's own error when writing fails (nothing is left behind).
 */
export async function writeSafetensors(
  path: string,
  tensors: Iterable<WritableTensor>,
  metadata: Readonly<Record<string, string>> = {},
): Promise<void> {
  const ordered = [...tensors].sort(
    (a, b) => dtypeBytes(b.dtype) - dtypeBytes(a.dtype) || (a.name < b.name ? -1 : Number(a.name > b.name)),
  );
  const header = makeHeader(ordered, metadata);
  const temporary = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`);
  const handle = await open(temporary, 'wx');
  try {
    await handle.writeFile(header);
    for (const tensor of ordered) {
      const bytes = typeof tensor.bytes === 'function' ? await tensor.bytes() : tensor.bytes;
      const expected = elementCount(tensor.shape) * dtypeBytes(tensor.dtype);
      if (bytes.byteLength !== expected) {
        throw new TypeError(`tensor ${tensor.name} takes ${expected} bytes, it was given ${bytes.byteLength}`);
      }
      for (let start = 0; start < bytes.length; start += chunkBytes) {
        await handle.writeFile(bytes.subarray(start, start + chunkBytes));
      }
    }
    await handle.sync();
    await handle.close();
    await rename(temporary, path);
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(temporary, { force: true });
    throw error;
  }
}
