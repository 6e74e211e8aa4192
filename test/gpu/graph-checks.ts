// What the op cases do not reach: captured graphs, memory that scopes give back, weights that are merged, equal bytes in equal runs.
import type { Backend, HostTensor, Tensor } from '../../src/backend/index.js';
import type { CudaBackend } from '../../src/cuda/cuda-backend.js';
import { host, storedPart, uniform } from '../backend/cases/op-case.js';
import type { Tally } from './op-cases.js';

interface Check {
  readonly name: string;
  /** Returns what is wrong, or nothing. */
  run(b: CudaBackend): Promise<string[]>;
}

const sameBytes = (a: HostTensor, b: HostTensor) => Buffer.compare(a.bytes, b.bytes) === 0;

function activations(b: Backend, seed: string, shape: readonly number[]): Tensor {
  const count = shape.reduce((product, size) => product * size, 1);
  return b.scope(() => b.cast(b.upload(host(shape, 'f32', uniform(seed, count))), b.activationDtype));
}

/** A small layer: norm, merged projections, rope, attention over two segments, output, feed-forward. */
function layerOf(b: Backend) {
  const [rows, heads, kvHeads, headDim, hidden, inner, text] = [40, 4, 2, 32, 128, 192, 24];
  const matrix = (seed: string, n: number, k: number) =>
    b.weight([storedPart(seed, [n, k], { dtype: 'bf16' })], 'matrix');
  const qkv = b.weight(
    [heads, kvHeads, kvHeads].map((count, i) => storedPart(`qkv${i}`, [count * headDim, hidden], { dtype: 'bf16' })),
    'matrix',
  );
  const [out, up, down] = [
    matrix('out', hidden, heads * headDim),
    matrix('up', 2 * inner, hidden),
    matrix('down', hidden, inner),
  ];
  const table = (seed: string) => b.upload(host([rows, headDim], 'f32', uniform(seed, rows * headDim)));
  const [cos, sin] = [table('cos'), table('sin')];
  const norm = b.upload(host([hidden], 'f32', uniform('norm', hidden)));
  const headNorm = b.upload(host([headDim], 'f32', uniform('head norm', headDim)));
  const own = {
    k: b.zeros([rows, kvHeads, headDim], b.activationDtype),
    v: b.zeros([rows, kvHeads, headDim], b.activationDtype),
  };
  const past = {
    k: activations(b, 'text k', [text, kvHeads, headDim]),
    v: activations(b, 'text v', [text, kvHeads, headDim]),
    length: b.upload(host([1], 'i32', [17])),
  };
  const options = { heads, kvHeads, headDim, qNorm: headNorm, kNorm: headNorm, eps: 1e-6, cos, sin };
  return {
    shape: [rows, hidden],
    forward(x: Tensor): Tensor {
      return b.scope(() => {
        const normed = b.rmsNorm(x, norm, { eps: 1e-6 });
        const q = b.headsRope(b.matmul(normed, qkv), options, own);
        const attended = b.view(b.attention(q, [own, past]), [rows, heads * headDim]);
        const y = b.add(x, b.matmul(attended, out));
        return b.add(y, b.matmul(b.swiglu(b.matmul(b.rmsNorm(y, norm, { eps: 1e-6 }), up)), down));
      });
    },
  };
}

const checks: readonly Check[] = [
  {
    name: 'a graph gives the bytes that the ops give one by one, at every replay',
    async run(b) {
      const layer = layerOf(b);
      const state = activations(b, 'state', layer.shape);
      const start = await b.download(state);
      const eager: HostTensor[] = [];
      for (let step = 0; step < 3; step++) {
        b.scope(() => {
          b.write(state, layer.forward(state));
          return null;
        });
        eager.push(await b.download(state));
      }
      b.write(state, b.upload(start));
      using graph = b.capture(() => b.write(state, layer.forward(state)));
      const problems = sameBytes(await b.download(state), start) ? [] : ['capturing ran the body'];
      for (const [step, wanted] of eager.entries()) {
        graph.replay();
        if (!sameBytes(await b.download(state), wanted)) problems.push(`replay ${step} differs`);
      }
      return problems;
    },
  },
  {
    name: 'two graphs share one arena and do not disturb each other',
    async run(b) {
      const layer = layerOf(b);
      const [first, second] = [activations(b, 'first', layer.shape), activations(b, 'second', layer.shape)];
      const wanted: HostTensor[] = [];
      for (const x of [first, second]) wanted.push(await b.download(layer.forward(x)));
      using one = b.capture(() => b.write(first, layer.forward(first)));
      const before = b.report().memory.reserved;
      using two = b.capture(() => b.write(second, layer.forward(second)));
      const grown = b.report().memory.reserved - before;
      two.replay();
      one.replay();
      const problems = grown === 0 ? [] : [`the second graph took ${grown} more bytes`];
      for (const [i, x] of [first, second].entries())
        if (!sameBytes(await b.download(x), wanted[i] ?? (await b.download(x)))) problems.push(`graph ${i} differs`);
      return problems;
    },
  },
  {
    name: 'host data uploaded in a captured region is the same at every replay',
    async run(b) {
      const state = b.upload(host([4], 'f32', [1, 2, 3, 4]));
      using graph = b.capture(() => b.write(state, b.add(state, b.upload(host([4], 'f32', [1, 1, 2, 2])))));
      const scratch = activations(b, 'scratch', [64, 64]);
      graph.replay();
      b.write(scratch, b.multiply(scratch, scratch));
      graph.replay();
      const values = new Float32Array((await b.download(state)).bytes.slice().buffer);
      return values.join() === '3,4,7,8' ? [] : [`got ${values.join()}`];
    },
  },
  {
    name: 'scopes give all memory back',
    async run(b) {
      const layer = layerOf(b);
      const x = activations(b, 'x', layer.shape);
      b.scope(() => {
        layer.forward(x);
        return null;
      });
      await b.synchronize();
      const before = b.report().memory.allocated;
      for (let i = 0; i < 3; i++)
        b.scope(() => {
          layer.forward(x);
          return null;
        });
      const after = b.report().memory.allocated;
      return before === after ? [] : [`${after - before} bytes stayed`];
    },
  },
];

/** Runs all checks on a backend. */
export async function runGraphChecks(b: CudaBackend): Promise<Pick<Tally, 'passed' | 'failed'>> {
  let [passed, failed] = [0, 0];
  for (const { name, run } of checks) {
    let problems: string[];
    try {
      problems = await run(b);
    } catch (error) {
      problems = [error instanceof Error ? (error.stack ?? error.message) : String(error)];
    }
    if (problems.length === 0) passed++;
    else {
      failed++;
      console.log(`FAILED ${b.activationDtype} ${name}: ${problems.join('; ')}`);
    }
  }
  return { passed, failed };
}
