// Compiles every kernel for every architecture that is claimed: `node scripts/check-kernels.mjs [--all]`.
// Results are kept by content, so that a second run only compiles what changed. Needs nvcc of CUDA 12.8 or later.
//   --ptxas     also prints registers, shared memory and spills of each kernel
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const kernels = join(root, 'src/cuda/kernels');
const cache = join(root, 'node_modules/.cache/orrery-kernels');
/** One front end pass each: virtual architecture, and the chips whose machine code is made from it. */
const passes = [
  ['80', ['80', '89', '100', '120']],
  ['90a', ['90a']],
];
const verbose = process.argv.includes('--ptxas');
const run = promisify(execFile);

const flat = { VEC: 8, INDEX: 'u32' };
const row = { C: 4096, VEC: 8, THREADS: 256, ROWS: 1 };
const product = { TYPE: 'bf16', OUT: 'bf16', BIAS: 'float', TENSOR: 1, VECTOR: 1 };
const attention = { SEGMENTS: 2, CAUSAL: 0 };

/** Defines that stand for each kernel: the ones networks use, and one of each kind that only tests reach. */
const variants = {
  'layout/copy-rows': [{ UNIT: 'uint4', INDEX: 'u32' }],
  'layout/permute': [{ UNIT: 'u16', INDEX: 'u64', RANK: 4 }],
  'layout/cast': [
    { SRC: 'float', DST: 'bf16', VALUE: 'float', VEC: 4, INDEX: 'u32' },
    { SRC: 'e5m2', DST: 'i64', VALUE: 'double', VEC: 1, INDEX: 'u64' },
  ],
  'layout/upsample-nearest': [{ UNIT: 'uint4', INDEX: 'u32' }],
  'layout/embed': [{ UNIT: 'uint4', INDEX: 'u32' }],
  'pointwise/arithmetic': [{ TYPE: 'bf16', ...flat }],
  'pointwise/activation': [
    { TYPE: 'bf16', KIND: 3, ...flat },
    { TYPE: 'bf16', KIND: 4, ...flat },
  ],
  'pointwise/swiglu': [{ TYPE: 'bf16', ...flat }],
  'pointwise/snake': [{ TYPE: 'bf16', TABLE: 'float', INDEX: 'u32' }],
  'pointwise/add-rows': [{ TYPE: 'bf16', ROW: 'bf16', ...flat }],
  'pointwise/linear-combination': [{ TYPE: 'float', COUNT: 7, VEC: 4, INDEX: 'u32' }],
  'pointwise/to-rgb8': [{ TYPE: 'bf16', ...flat }],
  'rows/rms-norm': [{ TYPE: 'bf16', TABLE: 'float', KIND: 1, ...row }],
  'rows/layer-norm': [{ TYPE: 'bf16', TABLE: 'float', BIAS: 1, ...row, C: 1152, THREADS: 32, ROWS: 8 }],
  'rows/mean': [{ TYPE: 'bf16', THREADS: 32 }],
  'rows/rope': [{ TYPE: 'float', TABLE: 'float', INDEX: 'u32' }],
  'rows/heads-rope': [
    { TYPE: 'bf16', NORM: 'float', TABLE: 'float', D: 128, VEC: 8, TVEC: 4, LANES: 8, BATCH: 4, PER: 48 },
    { TYPE: 'bf16', NORM: 'float', TABLE: 'float', D: 18, VEC: 1, TVEC: 1, LANES: 16, BATCH: 4, PER: 6 },
  ],
  'rows/add-norm': [
    { TYPE: 'bf16', TABLE: 'float', ADD: 1, QUANTIZE: 0, ...row },
    { TYPE: 'bf16', TABLE: 'float', ADD: 1, QUANTIZE: 1, ...row },
  ],
  'rows/quantize-rows': [
    { TYPE: 'bf16', SWIGLU: 0, ...row },
    { TYPE: 'bf16', SWIGLU: 1, ...row, C: 12288, THREADS: 512 },
  ],
  'random/random-fill': [{ DST: 'bf16' }],
  'rows/softmax-rows': [{ TYPE: 'bf16', SEGMENTS: 2, CAUSAL: 1 }],
  'products/join-keys': [{ SEGMENTS: 1 }, { SEGMENTS: 3 }],
  'products/pack-weight': [{ SRC: 'e4m3', DST: 'bf16' }],
  'products/dequantize-rows': [{ TYPE: 'bf16', ...flat }],
  'products/finish-product': [{ TYPE: 'bf16', BIAS: 'float', ...flat }],
  'products/fold-taps': [{ TYPE: 'bf16', BIAS: 'float' }],
  'products/conv': [
    product,
    { ...product, VECTOR: 0 },
    { ...product, TYPE: 'float', OUT: 'float', TENSOR: 0, VECTOR: 0 },
  ],
  'hopper/attention': [attention, { ...attention, SEGMENTS: 1, CAUSAL: 1 }],
  'hopper/attention-fp8': [{}],
  'hopper/fp8-heads': [{ SEGMENTS: 2 }],
  'products/attention': [
    { D: 128, DP: 128, WARPS: 8, BN: 32, STAGES: 2, ...attention },
    { D: 18, DP: 32, WARPS: 8, BN: 64, STAGES: 2, ...attention, CAUSAL: 1 },
  ],
};

function sources(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? sources(path) : [path];
  });
}

const files = sources(kernels).filter((path) => /\.cuh?$/.test(path));
const headers = files.filter((path) => path.endsWith('.cuh')).map((path) => readFileSync(path, 'utf8'));
const scratch = mkdtempSync(join(tmpdir(), 'orrery-kernels-'));
mkdirSync(cache, { recursive: true });

const jobs = files
  .filter((path) => path.endsWith('.cu'))
  .flatMap((path) => {
    const name = relative(kernels, path).replace(/\.cu$/, '');
    const list = variants[name];
    if (!list) throw new Error(`${name}: scripts/check-kernels.mjs names no defines for it`);
    return list.map((defines, i) => ({ path, name: list.length > 1 ? `${name} #${i + 1}` : name, defines }));
  });

async function compile({ path, name, defines }) {
  const flags = Object.entries(defines).map(([key, value]) => `-D${key}=${value}`);
  const served = name.startsWith('hopper/') ? passes.filter(([virtual]) => virtual === '90a') : passes;
  const targets = served.map(
    ([virtual, chips]) => `-gencode=arch=compute_${virtual},code=[${chips.map((chip) => `sm_${chip}`)}]`,
  );
  const key = createHash('sha256')
    .update(JSON.stringify([readFileSync(path, 'utf8'), headers, flags, targets]))
    .digest('hex');
  const mark = join(cache, key.slice(0, 32));
  if (existsSync(mark) && !verbose) return { name, fromCache: true };
  const includes = [kernels, dirname(path)].flatMap((folder) => ['-I', folder]);
  const out = join(scratch, `${basename(path)}-${key.slice(0, 8)}.fatbin`);
  const args = [
    '-std=c++17',
    '--fatbin',
    '--threads=2',
    ...(verbose ? ['-Xptxas', '-v'] : []),
    ...includes,
    ...flags,
    ...targets,
    path,
    '-o',
    out,
  ];
  try {
    const { stderr } = await run('nvcc', args, { maxBuffer: 64e6 });
    writeFileSync(mark, '');
    return { name, log: verbose ? stderr : '' };
  } catch (error) {
    return { name, error: error.stderr || String(error) };
  }
}

const start = performance.now();
const results = [];
const queue = [...jobs];
await Promise.all(
  Array.from({ length: Math.max(2, availableParallelism()) }, async () => {
    for (let job = queue.shift(); job; job = queue.shift()) results.push(await compile(job));
  }),
);
rmSync(scratch, { recursive: true, force: true });
const failures = results.filter(({ error }) => error);
for (const { name, error, log } of results) {
  if (error) console.error(`${name}:\n${error}`);
  if (log) console.log(`${name}:\n${log}`);
}
const seconds = ((performance.now() - start) / 1000).toFixed(1);
const cached = results.filter(({ fromCache }) => fromCache).length;
console.log(
  `${jobs.length} kernels for ${passes.flatMap(([, chips]) => chips.map((chip) => `sm_${chip}`)).join(', ')} in ${seconds} s, ${cached} unchanged`,
);
console.log(`${results.length - failures.length} passed, ${failures.length} failed`);
if (failures.length > 0) process.exitCode = 1;
