// The engines that cuDNN's heuristics offer for one shape, timed: which one comes first and which is fastest. Argument: a part of the names.
import { attentionRecipe } from '../../src/cuda/cudnn/attention-graph.js';
import { convolutionRecipe } from '../../src/cuda/cudnn/convolution-graph.js';
import { Descriptors } from '../../src/cuda/cudnn/descriptors.js';
import { ExecutionPlan, type GraphRecipe } from '../../src/cuda/cudnn/execution-plan.js';
import {
  cudnnBackendAttributeName as attribute,
  cudnnBackendDescriptorType as descriptor,
  openCudnn,
  cudnnBackendAttributeType as type,
} from '../../src/cuda/ffi/cudnn.js';
import { openDriver } from '../../src/cuda/ffi/driver.js';
import { Device } from '../../src/cuda/runtime/device.js';
import { MemoryPool } from '../../src/cuda/runtime/memory/memory-pool.js';
import { Stream } from '../../src/cuda/runtime/stream.js';
import { addressOf } from '../../src/native/index.js';
import { pythonRoots } from './open-gpu.js';

const wanted = process.argv[2] ?? '';
const device = new Device(openDriver(), 0);
const cudnn = openCudnn(pythonRoots());
const stream = new Stream(device);
const pool = new MemoryPool(device);
const out = new BigUint64Array(1);
const made = performance.now();
console.log(`cudnnCreate ${cudnn.cudnnCreate(out)} in ${(performance.now() - made).toFixed(0)} ms`);
const handle = Number(out[0]);
cudnn.cudnnSetStream(handle, stream.handle);
console.log(`cuDNN ${cudnn.cudnnGetVersion()} on ${device.name}`);

/** Device memory with random bfloat16 between -1 and 1. */
function random(bytes: number): number {
  const address = pool.allocate(bytes);
  const host = new Uint16Array(1 << 21);
  for (let i = 0; i < host.length; i++) {
    const bits = Math.imul(i + 1, 2654435761) >>> 0;
    host[i] = ((bits >>> 31) << 15) | (0x3c00 + ((bits >>> 8) & 0x3ff));
  }
  for (let at = 0; at < bytes; at += host.byteLength)
    stream.copyToDevice(address + at, host, Math.min(host.byteLength, bytes - at));
  stream.drain();
  return address;
}

function* configsOf(d: Descriptors, graph: number): Generator<readonly [mode: number, config: number]> {
  for (const mode of [3]) {
    try {
      const heuristics = d.make(descriptor.ENGINEHEUR);
      d.link(heuristics, attribute.ENGINEHEUR_OPERATION_GRAPH, graph);
      d.setChoice(heuristics, attribute.ENGINEHEUR_MODE, type.HEUR_MODE, mode);
      d.finalize(heuristics);
      for (const config of d.list(heuristics, attribute.ENGINEHEUR_RESULTS, descriptor.ENGINECFG, 8))
        yield [mode, config];
    } catch (error) {
      console.log(`  mode ${mode}: ${error instanceof Error ? error.message.slice(0, 160) : error}`);
    }
  }
}

function tryEngines(recipe: GraphRecipe, flops: number, addresses: readonly number[]): void {
  console.log(`${recipe.key}`);
  const d = new Descriptors(cudnn);
  try {
    const graph = d.make(descriptor.OPERATIONGRAPH);
    d.set(graph, attribute.OPERATIONGRAPH_HANDLE, type.HANDLE, BigUint64Array.of(BigInt(handle)));
    d.link(graph, attribute.OPERATIONGRAPH_OPS, ...recipe.build(d));
    d.finalize(graph);
    for (const [mode, config] of configsOf(d, graph)) {
      const [engine = 0] = d.list(config, attribute.ENGINECFG_ENGINE, descriptor.ENGINE, 1);
      const name = `  mode ${mode} engine ${d.integer(engine, attribute.ENGINE_GLOBAL_INDEX)}`;
      try {
        const start = performance.now();
        const plan = d.make(descriptor.EXECUTION_PLAN);
        d.set(plan, attribute.EXECUTION_PLAN_HANDLE, type.HANDLE, BigUint64Array.of(BigInt(handle)));
        d.link(plan, attribute.EXECUTION_PLAN_ENGINE_CONFIG, config);
        d.finalize(plan);
        const ready = performance.now() - start;
        const execution = new ExecutionPlan(d, plan, recipe.uids, 0);
        const text = execution.describe().toString();
        const knobs = text.match(/"knobChoices":\{([^}]*)\}/)?.[1]?.replaceAll(/"CUDNN_KNOB_TYPE_|"/g, '') ?? '';
        const workspace = pool.allocate(execution.workspaceBytes);
        const run = () => execution.execute(handle, addresses, workspace);
        run();
        stream.drain();
        const count = Math.max(1, Math.min(30, Math.round(1e13 / flops)));
        const times: number[] = [];
        for (let batch = 0; batch < 3; batch++) {
          const from = performance.now();
          for (let i = 0; i < count; i++) run();
          stream.drain();
          times.push((performance.now() - from) / count);
        }
        pool.free(workspace);
        const ms = Math.min(...times);
        console.log(
          `${name}: ${ms.toFixed(3)} ms ${(flops / ms / 1e9).toFixed(0)} TFLOP/s, plan ${ready.toFixed(0)} ms, workspace ${execution.workspaceBytes}, text ${text.length} ${knobs}`,
        );
      } catch (error) {
        console.log(`${name}: ${error instanceof Error ? error.message.slice(0, 200) : error}`);
      }
    }
  } catch (error) {
    console.log(`  ${error instanceof Error ? error.message.slice(0, 300) : error}`);
  }
  d[Symbol.dispose]();
}

const scale = Float32Array.of(1 / Math.sqrt(128));
const lengths = pool.allocate(32);
for (const [rows, text, isPadded] of [
  [5070, 300, false],
  [5070, 384, true],
  [1024, 384, true],
  [44160, 384, true],
] as const) {
  if (!'attention'.includes(wanted)) break;
  const keys = rows + text;
  const host = Int32Array.of(rows, 0, 0, 0, rows + 300, 0, 0, 0);
  stream.copyToDevice(lengths, host, 32);
  stream.drain();
  const [q, k, v, o] = [random(rows * 8192), random(keys * 2048), random(keys * 2048), pool.allocate(rows * 8192)];
  const more = isPadded ? [lengths, lengths + 16] : [];
  tryEngines(attentionRecipe({ rows, keys, heads: 32, groups: 8, d: 128, isPadded }), 4 * rows * (rows + 300) * 4096, [
    q,
    k,
    v,
    o,
    Number(addressOf(scale)),
    ...more,
  ]);
  for (const address of [q, k, v, o]) pool.free(address);
}
for (const [t, h, w, c, o] of [
  [13, 60, 104, 1024, 1024],
  [25, 120, 208, 512, 512],
  [9, 240, 416, 256, 256],
  [9, 240, 416, 256, 12],
] as const) {
  if (!'convolution'.includes(wanted)) break;
  const input = [t, h, w] as const;
  const sizes = { input, output: input, kernel: [3, 3, 3], stride: [1, 1, 1], dilation: [1, 1, 1] } as const;
  const recipe = convolutionRecipe({
    ...sizes,
    before: [2, 1, 1],
    after: [0, 1, 1],
    channels: c,
    outputs: o,
    hasBias: true,
  });
  const points = t * h * w;
  const [x, weight, y, b] = [
    random(points * c * 2),
    random(27 * c * o * 2),
    pool.allocate(points * o * 2),
    random(o * 4),
  ];
  tryEngines(recipe, 2 * 27 * points * c * o, [x, weight, y, b]);
  for (const address of [x, weight, y, b]) pool.free(address);
}
