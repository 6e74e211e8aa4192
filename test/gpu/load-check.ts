// How fast weights come from the page cache to the GPU: a safetensors file with layers of a large checkpoint's shapes, written to the
// temporary folder and loaded twice in bfloat16 and once into FP8; values held against the file; and what its stages reach alone.
// Argument: gigabytes of the file, 4 where absent. The last line counts.
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HostTensor, Weight } from '../../src/backend/index.js';
import { HostCopier } from '../../src/cuda/runtime/memory/host-copier.js';
import { addressOf } from '../../src/native/index.js';
import { openSafetensors, type SafetensorsFile } from '../../src/weights/safetensors/open-safetensors.js';
import { openGpu } from './open-gpu.js';

const [hidden, inner, kv] = [4096, 12288, 1024];
/** Merged weights of a layer: rows of each part, columns. */
const merged = [
  { name: 'qkv', rows: [hidden, kv, kv], columns: hidden },
  { name: 'out', rows: [hidden], columns: hidden },
  { name: 'gate_up', rows: [inner, inner], columns: hidden },
  { name: 'down', rows: [hidden], columns: inner },
] as const;
const layerBytes = merged.reduce((sum, { rows, columns }) => sum + 2 * columns * rows.reduce((a, x) => a + x, 0), 0);
const layers = Math.max(1, Math.round((Number(process.argv[2] ?? 4) * 1e9) / layerBytes));
const path = join(tmpdir(), `orrery-load-check-${process.pid}.safetensors`);

/** Numbers between 2^-31 and 2 of either sign, by place in the file. */
const block = new Uint16Array((32 << 20) - 24);
for (let i = 0, state = 1; i < block.length; i++) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  block[i] = ((state >>> 16) & 0x8fff) | 0x3000;
}

function writeFile(): void {
  const header: Record<string, unknown> = {};
  let end = 0;
  for (let layer = 0; layer < layers; layer++)
    for (const { name, rows, columns } of merged)
      for (const [part, count] of rows.entries()) {
        const start = end;
        end += 2 * count * columns;
        header[`${layer}.${name}.${part}`] = { dtype: 'BF16', shape: [count, columns], data_offsets: [start, end] };
      }
  const json = JSON.stringify(header);
  const text = Buffer.from(json.padEnd(Math.ceil(json.length / 8) * 8));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  const file = openSync(path, 'w');
  for (const bytes of [length, text]) writeSync(file, bytes);
  const bytes = new Uint8Array(block.buffer);
  for (let at = 0; at < end; at += bytes.length) writeSync(file, bytes.subarray(0, Math.min(bytes.length, end - at)));
  closeSync(file);
}

const rate = (bytes: number, ms: number) => `${(bytes / ms / 1e6).toFixed(2)} GB/s`;

function partsOf(file: SafetensorsFile, layer: number, name: string, count: number): HostTensor[] {
  return Array.from({ length: count }, (_, part) => {
    const tensor = file.tensors.get(`${layer}.${name}.${part}`);
    if (!tensor) throw new Error(`no ${layer}.${name}.${part}`);
    return { shape: tensor.shape, dtype: 'bf16', bytes: tensor.bytes() };
  });
}

const b = openGpu('bf16');
let [passed, failed] = [0, 0];

async function load(file: SafetensorsFile, format: 'dense' | 'fp8'): Promise<Weight[]> {
  const start = performance.now();
  const weights = Array.from({ length: layers }, (_, layer) =>
    merged.map(({ name, rows }) => b.weight(partsOf(file, layer, name, rows.length), 'matrix', { format })),
  ).flat();
  await b.synchronize();
  const ms = performance.now() - start;
  console.log(
    `${format}: ${((layers * layerBytes) / 1e9).toFixed(2)} GB in ${(ms / 1000).toFixed(2)} s, ${rate(layers * layerBytes, ms)}`,
  );
  return weights;
}

/** Columns of a weight as products give them, against the file's. */
async function check(file: SafetensorsFile, weights: readonly Weight[]): Promise<void> {
  for (const layer of [0, layers - 1])
    for (const [i, { name, rows, columns }] of merged.entries()) {
      const picked = Array.from({ length: 8 }, (_, k) => (k * 2741 + 11) % columns);
      const oneHot = new Uint16Array(8 * columns);
      for (const [row, column] of picked.entries()) oneHot[row * columns + column] = 0x3f80;
      const x = b.upload({ shape: [8, columns], dtype: 'bf16', bytes: new Uint8Array(oneHot.buffer) });
      const y = b.matmul(x, weights[layer * merged.length + i] as Weight);
      const got = new Uint16Array((await b.download(y)).bytes.slice().buffer);
      for (const tensor of [x, y]) tensor[Symbol.dispose]();
      const total = rows.reduce((a, count) => a + count, 0);
      let wrong = 0;
      let first = 0;
      for (const { shape, bytes } of partsOf(file, layer, name, rows.length)) {
        const stored = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        for (let row = 0; row < (shape[0] ?? 0); row++)
          for (const [k, column] of picked.entries())
            if (got[k * total + first + row] !== stored.getUint16(2 * (row * columns + column), true)) wrong++;
        first += shape[0] ?? 0;
      }
      if (wrong === 0) passed++;
      else failed++;
      if (wrong > 0) console.log(`FAILED layer ${layer} ${name}: ${wrong} of ${8 * total} values are not the file's`);
    }
}

/** What reading the map reaches alone, by this thread and by all. */
function measureReading(file: SafetensorsFile): void {
  const target = new Uint8Array(64 << 20).fill(1);
  const all = [...file.tensors.values()];
  for (const helpers of [0, undefined]) {
    using copier = new HostCopier(helpers);
    const copy = (bytes: Uint8Array) =>
      copier.copy(Number(addressOf(target)), Number(addressOf(bytes)), Math.min(bytes.length, target.length));
    copy(target.subarray(0, 0));
    let bytes = 0;
    const start = performance.now();
    for (const tensor of all) {
      const view = tensor.bytes();
      copy(view);
      bytes += Math.min(view.length, target.length);
    }
    const who = helpers === 0 ? 'one thread' : `all threads (${availableParallelism()} processors)`;
    console.log(`reading alone, ${who}: ${rate(bytes, performance.now() - start)}`);
  }
}

try {
  const start = performance.now();
  writeFile();
  console.log(`${b.name}; file written in ${((performance.now() - start) / 1000).toFixed(1)} s`);
  for (const round of [1, 2]) {
    using file = openSafetensors(path);
    const weights = await load(file, 'dense');
    if (round === 2) await check(file, weights);
    for (const weight of weights) weight[Symbol.dispose]();
  }
  using file = openSafetensors(path);
  for (const weight of await load(file, 'fp8')) weight[Symbol.dispose]();
  measureReading(file);
} finally {
  rmSync(path, { force: true });
}
await b[Symbol.asyncDispose]();
console.log(`${passed} passed, ${failed} failed`);
if (failed > 0) process.exitCode = 1;
