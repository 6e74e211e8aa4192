// Reading safetensors files: names to typed ranges of a mapped file; bytes come in when a tensor is looked at.
import { mapFile } from '../../native/index.js';
import { CheckpointError } from '../errors.js';
import { type HeaderEntry, maxHeaderBytes, parseHeader } from './header.js';

/** One tensor of a file. */
export interface FileTensor extends HeaderEntry {
  /** The file it lies in. */
  readonly file: string;
  /** Native address of its first byte, absent where the file is not mapped. */
  readonly address?: bigint;
  /** Its bytes, little-endian: a view of the map (never write to it), or a fresh copy where nothing is mapped. */
  bytes(): Uint8Array;
}

/** An opened file. Views made from it stay valid after it is disposed of. */
export interface SafetensorsFile extends Disposable {
  readonly path: string;
  /** Bytes of the file. */
  readonly size: number;
  readonly metadata: Readonly<Record<string, string>>;
  /** In file order. */
  readonly tensors: ReadonlyMap<string, FileTensor>;
}

/**
 * Opens a file and checks its header; no tensor is read.
 * @param options.map false reads ranges instead of mapping.
 * @throws CheckpointError when the file is missing, no safetensors file, truncated, or its header is wrong.
 */
export function openSafetensors(path: string, options: { readonly map?: boolean } = {}): SafetensorsFile {
  const map = openMap(path, options);
  try {
    const headerBytes = map.size < 8 ? undefined : new DataView(map.view(0, 8).slice().buffer).getBigUint64(0, true);
    const isPlausible = headerBytes !== undefined && headerBytes >= 2n && headerBytes <= BigInt(maxHeaderBytes);
    if (!isPlausible || map.view(8, 1)[0] !== 0x7b) {
      throw new CheckpointError(path, 'not a safetensors file', 'give a .safetensors file, or download it again');
    }
    const dataStart = 8 + Number(headerBytes);
    if (dataStart > map.size) {
      const problem = `truncated: its header alone takes ${dataStart} bytes, it has ${map.size}`;
      throw new CheckpointError(path, problem, 'download it again');
    }
    const json = new TextDecoder().decode(map.view(8, Number(headerBytes)));
    const header = parseHeader(path, json, dataStart, map.size);
    const tensors = new Map<string, FileTensor>();
    for (const entry of header.entries) {
      const place = map.address === undefined ? {} : { address: map.address + BigInt(entry.offset) };
      const bytes = () => map.view(entry.offset, entry.byteLength);
      tensors.set(entry.name, { ...entry, file: path, ...place, bytes });
    }
    return { path, size: map.size, metadata: header.metadata, tensors, [Symbol.dispose]: () => map[Symbol.dispose]() };
  } catch (error) {
    map[Symbol.dispose]();
    throw error;
  }
}

function openMap(path: string, options: { readonly map?: boolean }): ReturnType<typeof mapFile> {
  try {
    return mapFile(path, options);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CheckpointError(path, `cannot be opened (${reason})`, 'check the path and its permissions', { cause });
  }
}
