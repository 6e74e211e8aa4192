// Packs the golden cases that the tests need into `test/golden/packed/`, and unpacks them into `test/golden/data/`.
//   node scripts/goldens.mjs pack FOLDER    pick and compress from a folder laid out like the golden cases
//   node scripts/goldens.mjs pack FOLDER micro    the same for cases of the micro checkpoint, which lie in a folder of their own
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

// Of the micro cases: the first velocity and the last latents tell what lies between.
const droppedMicro = /^(noise\/vision|step00\/(uncond|latents|action_latents)|step0[12]\/|step03\/(cond|uncond)\/)/;

function drops(caseName, tensor, isMicro) {
  if (isMicro) return droppedMicro.test(tensor) && !(caseName === 'action_policy' && tensor === 'noise/vision');
  if (tensor === 'video_u8' && !keepsVideo.has(caseName)) return true;
  return dropped[caseName]?.test(tensor) ?? false;
}

/** Writes a safetensors buffer again without the tensors that `drop` names. */
function prune(buffer, drop) {
  const length = Number(buffer.readBigUInt64LE(0));
  const header = JSON.parse(buffer.subarray(8, 8 + length).toString());
  const kept = header.__metadata__ ? { __metadata__: header.__metadata__ } : {};
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

function pack(from, group) {
  const target = group ? join(packed, group) : packed;
  const isStale = (name) => group !== undefined || name !== 'micro';
  if (existsSync(target))
    for (const name of readdirSync(target).filter(isStale)) rmSync(join(target, name), { recursive: true });
  let total = 0;
  for (const file of files(from)) {
    const path = relative(from, file);
    if (path.endsWith('.md')) continue;
    let bytes = readFileSync(file);
    const name = /^cases\/(.+)\.safetensors$/.exec(path)?.[1];
    if (name) bytes = prune(bytes, (tensor) => drops(name, tensor, group === 'micro'));
    // Generation has no language head.
    if (/^transformer\/.+\.safetensors$/.test(path.split('/').slice(1).join('/')))
      bytes = prune(bytes, (tensor) => /^lm_head\./.test(tensor));
    const out = brotliCompressSync(bytes);
    total += out.length;
    mkdirSync(dirname(join(target, path)), { recursive: true });
    writeFileSync(`${join(target, path)}.br`, out);
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

if (process.argv[2] === 'pack' && process.argv[3]) pack(process.argv[3], process.argv[4]);
else if (process.argv[2] === 'unpack') unpack();
else {
  console.error('usage: node scripts/goldens.mjs pack FOLDER | unpack');
  process.exit(2);
}
