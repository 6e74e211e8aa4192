// Which layers are kept in eight bits, from the words of flags and from the JSON form of the original interface.
import type { Projection, Quantization, Tower } from '../../models/cosmos3-transformer/index.js';
import { RequestError, showValue } from '../../protocol/index.js';
import { isRecord } from './read-values.js';

const towers: readonly Tower[] = ['und', 'gen'];
const projections: readonly Projection[] = ['qkv', 'out', 'gate_up', 'down'];

/** What can be left as it is, besides layers by number. */
export const excludableParts: readonly string[] = [...towers, ...projections];

const noFourBits =
  'nvfp4 has no kernels here: four-bit products need compute capability 10.0, which this program was never run on; use fp8';

/** A quantisation as flags say it. */
export interface QuantizationWords {
  /** `none` and nothing mean the same. */
  readonly format?: string | undefined;
  /** Towers, projections and layer numbers; several with commas. */
  readonly exclude?: readonly string[] | undefined;
  /** Two whole numbers, as `1,2`. */
  readonly wideSteps?: string | undefined;
  readonly keepWide?: boolean | undefined;
}

/**
 * Reads the words; undefined where nothing is to be quantised.
 * @throws RequestError for a part that is none, counts that are none, and words that say nothing without another
 */
export function readQuantization({
  format = 'none',
  exclude = [],
  wideSteps,
  keepWide = false,
}: QuantizationWords): Quantization | undefined {
  if (format === 'none') {
    if (exclude.length > 0 || wideSteps !== undefined || keepWide)
      throw new RequestError(
        'missing_parameter',
        'quantization',
        '--quantization-exclude, --quantization-wide-steps and --keep-wide say nothing without --quantization fp8; add it',
      );
    return undefined;
  }
  if (format === 'nvfp4') throw new RequestError('invalid_value', 'quantization', `--quantization ${noFourBits}`);
  if (format !== 'fp8')
    throw new RequestError('invalid_value', 'quantization', `--quantization must be none or fp8, got ${format}`);
  return assemble('--quantization-exclude', {
    parts: exclude.flatMap((text) => text.split(',')).map((text) => text.trim()),
    steps: readWideSteps(wideSteps),
    keepWide,
  });
}

/** Keys of the JSON form. `transformer` may hold the others; the last two are of this program alone. */
const configKeys = ['method', 'activation_scheme', 'ignored_layers', 'wide_steps', 'keep_wide'] as const;

/**
 * Reads the JSON form, as `{"method": "fp8", "ignored_layers": ["layers.0", "und", "down"], "wide_steps": [1, 2]}`; undefined for
 * the method `none`.
 * @throws RequestError for keys and values that this program does not have
 */
export function readQuantizationConfig(config: Readonly<Record<string, unknown>>): Quantization | undefined {
  const flag = '--diffusion-quantization-config';
  const refuse = (message: string): never => {
    throw new RequestError('invalid_value', 'diffusion_quantization_config', `${flag}: ${message}`);
  };
  const { transformer, ...rest } = config;
  const inner = isRecord(transformer) && Object.keys(rest).length === 0 ? transformer : config;
  const unknown = Object.keys(inner).find((key) => !configKeys.some((known) => known === key));
  if (unknown !== undefined) refuse(`${unknown} is not known; there are ${configKeys.join(', ')}`);
  const { method, activation_scheme: scheme = 'dynamic', ignored_layers: ignored = [] } = inner;
  const { wide_steps: steps = [0, 0], keep_wide: keepWide = false } = inner;
  if (method === 'none') return undefined;
  if (method === 'nvfp4') refuse(noFourBits);
  if (method !== 'fp8') refuse(`method must be fp8 or none, got ${showValue(method)}`);
  if (scheme !== 'dynamic') refuse(`activation_scheme must be dynamic, got ${showValue(scheme)}`);
  const parts = Array.isArray(ignored) ? ignored.map((part) => String(part).replace(/^layers\.(?=\d+$)/, '')) : null;
  if (parts === null) return refuse(`ignored_layers must be a list, got ${showValue(ignored)}`);
  const counts = Array.isArray(steps) ? steps.filter(isCount) : [];
  const [first, last] = counts;
  if (first === undefined || last === undefined || !Array.isArray(steps) || steps.length !== 2)
    return refuse(`wide_steps must be two whole numbers, as [1, 2], got ${showValue(steps)}`);
  if (typeof keepWide !== 'boolean') return refuse(`keep_wide must be true or false, got ${showValue(keepWide)}`);
  return assemble(`${flag} ignored_layers`, { parts, steps: [first, last], keepWide });
}

interface Parts {
  readonly parts: readonly string[];
  readonly steps: readonly [first: number, last: number];
  readonly keepWide: boolean;
}

function assemble(source: string, { parts, steps: [wideFirstSteps, wideLastSteps], keepWide }: Parts): Quantization {
  const wrong = parts.find((part) => !excludableParts.includes(part) && !/^\d+$/.test(part));
  if (wrong !== undefined)
    throw new RequestError(
      'invalid_value',
      'quantization_exclude',
      `${source} ${wrong} is neither a layer's number nor one of ${excludableParts.join(', ')}`,
    );
  if (keepWide && wideFirstSteps + wideLastSteps === 0)
    throw new RequestError(
      'missing_parameter',
      'quantization_wide_steps',
      '--keep-wide says nothing without steps that run wide; add --quantization-wide-steps',
    );
  return {
    format: 'fp8',
    excludeTowers: towers.filter((name) => parts.includes(name)),
    excludeProjections: projections.filter((name) => parts.includes(name)),
    excludeLayers: parts.filter((part) => /^\d+$/.test(part)).map(Number),
    wideFirstSteps,
    wideLastSteps,
    ...(keepWide && { keepWide }),
  };
}

function readWideSteps(text: string | undefined): readonly [first: number, last: number] {
  if (text === undefined) return [0, 0];
  const [, first, last] = /^(\d+),(\d+)$/.exec(text) ?? [];
  if (first !== undefined && last !== undefined) return [Number(first), Number(last)];
  throw new RequestError(
    'invalid_value',
    'quantization_wide_steps',
    `--quantization-wide-steps must be two whole numbers, as 1,2, got ${text}`,
  );
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isInteger(value) && value >= 0;
