// Packs the golden cases that the tests need into `test/golden/packed/`, and unpacks them into `test/golden/data/`.
//   node scripts/goldens.mjs pack FOLDER    pick and compress from a folder laid out like the golden cases
//   node scripts/goldens.mjs unpack         done by the tests before they run
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const packed = join(root, 'test/golden/packed');
const data = join(root, 'test/golden/data');

// Pixels of random networks are noise and do not compress: these cases keep theirs, the others are told by their latents.
const keepsVideo = new Set(['t2i', 't2i_karras']);
const dropped = {
  vae: /^(en|de)code(5|17)\//,
  t2vs: /^sound$/,
  opencv_controls: /_up4$/,
  sound_tokenizer: /_random$/,
};

function drops(caseName, tensor) {
  if (tensor === 'video_u8' && !keepsVideo.has(caseName)) return true;
  return dropped[caseName]?.test(tensor) ?? false;
}

/** Writes a safetensors buffer again without the tensors that `drop` names. */
function prune(buffer, drop) {
  const length = Number(buffer.readBigUInt64LE(0));
  const header = JSON.parse(buffer.subarray(8, 8 + length).toString());
  const kept = {};
  const parts = [];
  let at = 0;
  for (const [name, entry] of Object.entries(header)) {
    if (name === '__metadata__' || drop(name)) continue;
    const [start, end] = entry.data_offsets;
    parts.push(buffer.subarray(8 + length + start, 8 + length + end));
    kept[name] = { ...entry, data_offsets: [at, at + end - start] };
    at += end - start;
  }
  let json = JSON.stringify(kept);
  json += ' '.repeat((8 - (json.length % 8)) % 8);
  const head = Buffer.alloc(8);
  head.writeBigUInt64LE(BigInt(json.length));
  return Buffer.concat([head, Buffer.from(json), ...parts]);
}

function files(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? files(join(folder, entry.name)) : [join(folder, entry.name)],
  );
}

function pack(from) {
  rmSync(packed, { recursive: true, force: true });
  let total = 0;
  for (const file of files(from)) {
    const path = relative(from, file);
    if (path.endsWith('.md')) continue;
    let bytes = readFileSync(file);
    const name = /^cases\/(.+)\.safetensors$/.exec(path)?.[1];
    if (name) bytes = prune(bytes, (tensor) => drops(name, tensor));
    const out = brotliCompressSync(bytes);
    total += out.length;
    mkdirSync(dirname(join(packed, path)), { recursive: true });
    writeFileSync(`${join(packed, path)}.br`, out);
  }
  console.log(`packed ${(total / 1e6).toFixed(2)} MB`);
}

function unpack() {
  for (const file of files(packed)) {
    const to = join(data, relative(packed, file).replace(/\.br$/, ''));
    if (existsSync(to) && statSync(to).mtimeMs >= statSync(file).mtimeMs) continue;
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, brotliDecompressSync(readFileSync(file)));
  }
}

if (process.argv[2] === 'pack' && process.argv[3]) pack(process.argv[3]);
else if (process.argv[2] === 'unpack') unpack();
else {
  console.error('usage: node scripts/goldens.mjs pack FOLDER | unpack');
  process.exit(2);
}
