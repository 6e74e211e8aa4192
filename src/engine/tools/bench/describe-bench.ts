// A measured job as a short table for people.

import { describeOffload } from '../../checkpoint/describe-options.js';
import type { PipelineBench } from './bench-report.js';
import type { RunTimes } from './run-job.js';
import { type OpTimes, opKinds } from './timed-backend.js';

/** The lines of the table. */
export function describeBench(bench: PipelineBench): readonly string[] {
  const { job, step, floor, rates, ops, memory, kernels, quantization, offload } = bench;
  const format = [...(quantization === null ? [] : [quantization.format]), ...describeOffload(offload)]
    .map((text) => `, ${text}`)
    .join('');
  return [
    `${bench.device}, ${bench.libraries}`,
    `${bench.model}${format}: ${job.task}, ${job.width}x${job.height}, ${job.frames} frames, ${job.steps} steps, ` +
      `${job.branches} ${job.branches === 1 ? 'branch' : 'branches'}, ${job.visionTokens} rows, ${job.textTokens} text tokens`,
    `open ${seconds(bench.openSeconds)}, load ${seconds(bench.loadSeconds)}`,
    `cold  ${describeRun(bench.cold)}`,
    `warm  ${describeRun(bench.warm)}; cold minus warm ${seconds(bench.coldMinusWarmSeconds)}`,
    ...(step === null
      ? []
      : [
          `step  ${step.medianMs.toFixed(2)} ms median, ${step.minMs.toFixed(2)} least; host ${step.hostMs.toFixed(2)}, ` +
            `idle ${step.idleMs.toFixed(2)}${floor ? `; floor ${floor.stepMs.toFixed(2)}, ${times(floor.stepRatio)}` : ''}; ${tera(rates.step)}`,
        ]),
    ...(ops.step === null
      ? []
      : [`step by kind  ${describeOps(ops.step)}; gemm ${tera(rates.gemm)}, attention ${tera(rates.attention)}`]),
    ...(rates.decode === null
      ? []
      : [
          `decode  ${seconds(bench.warm.decode)}${floor ? `; floor ${seconds(floor.decodeSeconds)}, ${times(floor.decodeRatio)}` : ''}; ${tera(rates.decode)}`,
        ]),
    ...(ops.decode === null ? [] : [`decode by kind  ${describeOps(ops.decode)}`]),
    ...(memory === null
      ? []
      : [
          `memory  ${gib(memory.peakReservedBytes)} reserved, ${gib(memory.peakAllocatedBytes)} allocated at most; estimated ${gib(memory.estimateBytes)}`,
        ]),
    ...(kernels === null
      ? []
      : [
          `kernels  ${kernels.compiled} compiled in ${seconds(kernels.compileMs / 1000)}, ${kernels.fromDisk} from disk, ${kernels.launches} launches`,
        ]),
  ];
}

function describeRun({ text, prepare, denoise, decode, total }: RunTimes): string {
  return `text ${seconds(text)}, prepare ${seconds(prepare)}, denoise ${seconds(denoise)}, decode ${seconds(decode)}, all ${seconds(total)}`;
}

function describeOps({ kinds, ops }: OpTimes): string {
  const byKind = opKinds.map((kind) => `${kind} ${kinds[kind].toFixed(2)} ms`).join(', ');
  const others = Object.entries(ops)
    .filter(([name, ms]) => ms > 0 && !['matmul', 'attention', 'conv'].includes(name))
    .sort(([, a], [, b]) => b - a)
    .slice(0, 8);
  return `${byKind} (${others.map(([name, ms]) => `${name} ${ms.toFixed(2)}`).join(', ')})`;
}

const seconds = (value: number) => `${value.toFixed(3)} s`;
const gib = (bytes: number) => `${(bytes / 2 ** 30).toFixed(2)} GiB`;
const times = (ratio: number | null) => (ratio === null ? 'no ratio' : `${ratio.toFixed(3)} times that`);
const tera = (rate: number | null) => (rate === null ? 'no rate' : `${(rate / 1e12).toFixed(0)} TFLOP/s`);
