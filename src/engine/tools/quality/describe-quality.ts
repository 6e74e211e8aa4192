// A measurement as a table for people. The last line counts the bars.
import type { Bar } from './bars.js';
import type { FrameFigures } from './measures.js';
import type { Quality, QualityRow } from './quality.js';

const columnWidth = 14;
const columns = [
  'against',
  'PSNR dB',
  'least',
  'latent cos',
  'least',
  'rel L2 %',
  'most',
  'velocity cos',
  'worst step',
  'least',
];

/** The lines of the table. */
export function describeQuality(quality: Quality): readonly string[] {
  const { model, job, reference, tested, rows, bars, leftOut, seconds, passed, failed } = quality;
  const width = Math.max(...rows.map(({ variant }) => variant.length), 'variant'.length);
  return [
    `${model}: ${counted(job.prompts, 'prompt')}, ${job.width}x${job.height}, ${counted(job.frames, 'frame')}, ${job.steps} steps, shift ${job.flowShift}, guidance 1`,
    `reference: float32, ${reference}${tested === null ? '' : `; variants: ${tested}`}`,
    Object.entries(seconds)
      .map(([part, time]) => `${part} ${time.toFixed(1)} s`)
      .join(', '),
    ...leftOut,
    '',
    [`${'variant'.padEnd(width)}`, ...columns.map((name) => name.padStart(columnWidth))].join(''),
    ...rows.map((row) => [row.variant.padEnd(width), ...cells(row).map((cell) => cell.padStart(columnWidth))].join('')),
    '',
    'velocity cosine by step, on identical inputs (of skipped steps: what stands in for them)',
    ...rows.flatMap(({ variant, velocities }) =>
      velocities === null ? [] : [`${variant.padEnd(width)}  ${velocities.steps.map(stepCell).join(' ')}`],
    ),
    '',
    ...bars.map(describeBar),
    `${passed} passed, ${failed} failed`,
  ];
}

function cells({ against, frames, latents, velocities }: QualityRow): string[] {
  return [
    against,
    ...frameCells(frames),
    latents?.cosine.toFixed(5) ?? '',
    latents?.worstCosine.toFixed(5) ?? '',
    latents === null ? '' : percent(latents.relativeL2),
    latents === null ? '' : percent(latents.worstRelativeL2),
    velocities?.mean.toFixed(5) ?? '',
    velocities?.worstStep.toFixed(5) ?? '',
    velocities?.min.toFixed(5) ?? '',
  ];
}

function frameCells(frames: FrameFigures | null): [mean: string, least: string] {
  if (frames === null) return ['', ''];
  const { mean, min } = frames;
  return mean === null || min === null ? ['exact', 'exact'] : [mean.toFixed(2), min.toFixed(2)];
}

function describeBar({ variant, measure, value, sense, limit, passed }: Bar): string {
  const figures = `${figure(value)} ${sense} ${figure(limit)}`;
  return `${passed ? 'pass' : 'MISS'}  ${variant}: ${measure} ${figures}`;
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
const percent = (fraction: number) => (100 * fraction).toFixed(3);
const stepCell = (cosine: number | null) => (cosine === null ? '   -   ' : cosine.toFixed(5));

/** Seven significant digits, without an exponent where it can be. */
function figure(value: number): string {
  if (value === 0 || !Number.isFinite(value)) return String(value);
  return Math.abs(value) < 1e-3 ? value.toExponential(2) : String(Number(value.toPrecision(7)));
}
