// The cases that hold one part alone: autoencoder, sound tokenizer, schedulers, control maps, tokenizer.
import { type Backend, type Tensor, uploadFloats } from '../../../backend/index.js';
import { type BlurPreset, blurControl, type EdgePreset, edgeControl } from '../../../media/index.js';
import { decodeSound, encodeSound } from '../../../models/sound-tokenizer/index.js';
import { decode, encode } from '../../../models/wan-vae/index.js';

import { downloadFloats } from '../../../pipeline/conditioning/vision-source.js';
import { flowSigmas, karrasSigmas, solverInputs, unipcTable } from '../../../pipeline/denoise/schedule.js';
import { channelsFirst, channelsLast } from '../../../pipeline/denoise/targets.js';
import type { Networks } from '../../../pipeline/networks.js';
import type { Tokenizer } from '../../../tokenizer/index.js';
import { type GoldenFolder, GoldenTensors } from './golden.js';
import { type Comparison, compare, type Tolerances } from './tolerances.js';

export interface PartContext {
  readonly folder: GoldenFolder;
  readonly networks: Networks;
  readonly tokenizer: Tokenizer;
  readonly tolerances: Tolerances;
}

/** The part cases by name; each runs where the folder has its file. */
export const partCases: Readonly<Record<string, (context: PartContext) => Promise<Comparison[]>>> = {
  vae: vaeCase,
  sound_tokenizer: soundCase,
  scheduler: schedulerCase,
  opencv_controls: controlsCase,
};

async function vaeCase({ folder, networks, tolerances }: PartContext): Promise<Comparison[]> {
  const golden = GoldenTensors.read(folder, 'vae');
  const { backend: b, vae } = networks;
  const results: Comparison[] = [];
  const sizes = [...new Set(golden.keys.flatMap((key) => /^encode(\d+)\//.exec(key)?.[1] ?? []))];
  for (const size of sizes) {
    const pixels = golden.floats(`encode${size}/pixels`);
    const shape = golden.get(`encode${size}/pixels`)?.shape.slice(2) ?? [];
    const latents = b.scope(() => encode(b, vae, uploadFloats(b, channelsLast(pixels, 3), [...shape, 3])));
    const decoded = b.scope(() => decode(b, vae, latents));
    const raw = await toChannelsFirst(b, latents);
    results.push(
      compare(tolerances, 'encoded', `encode${size}/latent_raw`, raw, golden.floats(`encode${size}/latent_raw`)),
    );
    const clamped = (await toChannelsFirst(b, decoded)).map((x) => Math.min(1, Math.max(-1, x)));
    const wanted = golden.get(`decode${size}/pixels`);
    if (wanted) results.push(compare(tolerances, 'latents', `decode${size}/pixels`, clamped, wanted.values));
    latents[Symbol.dispose]();
    decoded[Symbol.dispose]();
  }
  return results;
}

async function toChannelsFirst(b: Backend, tensor: Tensor): Promise<Float32Array> {
  const { data, shape } = await downloadFloats(b, tensor);
  return channelsFirst(data, shape.at(-1) ?? 1);
}

async function soundCase({ folder, networks, tolerances }: PartContext): Promise<Comparison[]> {
  const golden = GoldenTensors.read(folder, 'sound_tokenizer');
  const { backend: b, sound } = networks;
  if (!sound) throw new Error('the checkpoint of the cases has no sound tokenizer');
  const { channels, latentChannels } = sound.config;
  const latents = encodeSound(b, sound, channelsLast(golden.floats('waveform'), channels));
  const results = [
    compare(tolerances, 'encoded', 'latent', await toChannelsFirst(b, latents), golden.floats('latent')),
  ];
  latents[Symbol.dispose]();
  for (const [from, to] of [
    ['latent', 'decoded'],
    ['latent_random', 'decoded_random'],
  ] as const) {
    if (!golden.get(to)) continue;
    const values = channelsLast(golden.floats(from), latentChannels);
    const input = uploadFloats(b, values, [values.length / latentChannels, latentChannels]);
    const wave = channelsFirst(await decodeSound(b, sound, input), channels);
    results.push(compare(tolerances, 'sound', to, wave, golden.floats(to)));
    input[Symbol.dispose]();
  }
  return results;
}

interface SchedulerConfig {
  readonly flow_shift?: number;
  readonly use_karras_sigmas?: boolean;
  readonly sigma_min?: number;
  readonly sigma_max?: number;
  readonly solver_order?: number;
  readonly solver_type?: 'bh1' | 'bh2';
}

async function schedulerCase({ folder, tolerances }: PartContext): Promise<Comparison[]> {
  const golden = GoldenTensors.read(folder, 'scheduler');
  const configs = folder.index._scheduler_configs as Readonly<Record<string, SchedulerConfig>>;
  const groups = [...new Set(golden.keys.map((key) => key.split('/').slice(0, 2).join('/')))];
  return groups.flatMap((group) => {
    const [label = '', count = ''] = group.split('/');
    const native = label.endsWith('_native');
    const config = configs[label.replace(/_native$/, '')] ?? {};
    const steps = Number(count);
    const schedule = config.use_karras_sigmas
      ? karrasSigmas({ steps, sigmaMin: config.sigma_min ?? 0.01, sigmaMax: config.sigma_max ?? 200 })
      : flowSigmas({ steps, shift: config.flow_shift ?? 1, grid: native ? 'native' : 'linspace' });
    const check = (key: string, actual: ArrayLike<number>) => {
      const expected = golden.get(`${group}/${key}`);
      return expected ? [compare(tolerances, 'schedule', `${group}/${key}`, actual, expected.values)] : [];
    };
    const results = [...check('sigmas', schedule.sigmas), ...check('timesteps', schedule.timesteps)];
    const solver = {
      sigmas: schedule.sigmas,
      order: config.solver_order ?? 2,
      solverType: config.solver_type ?? 'bh2',
    } as const;
    return golden.get(`${group}/x0`)
      ? [...results, ...trajectory(golden, group, unipcTable(solver).coefficients, steps, check)]
      : results;
  });
}

/** Walks the table over the case's velocities. Where the reference's own last value is not finite, ours is not compared. */
function trajectory(
  golden: GoldenTensors,
  group: string,
  coefficients: Float32Array,
  steps: number,
  check: (key: string, actual: ArrayLike<number>) => Comparison[],
): Comparison[] {
  const columns = solverInputs.length;
  let sample = golden.floats(`${group}/x0`);
  let [corrected, data1, data2, data3] = Array.from({ length: 4 }, () => new Float32Array(sample.length));
  const results: Comparison[] = [];
  for (let step = 0; step < steps; step++) {
    const velocity = golden.floats(`${group}/v${String(step).padStart(2, '0')}`);
    const inputs = [sample, velocity, corrected, data1, data2, data3];
    const row = (output: number) =>
      sample.map((_, i) =>
        inputs.reduce(
          (sum, input, k) =>
            sum + (coefficients[(step * 3 + output) * columns + k] as number) * ((input?.[i] as number) ?? 0),
          0,
        ),
      );
    const [next, nowCorrected, data] = [row(0), row(1), row(2)];
    [data3, data2, data1, corrected, sample] = [data2, data1, data, nowCorrected, next];
    const key = `x${String(step + 1).padStart(2, '0')}`;
    if (golden.get(`${group}/${key}`)?.values.every(Number.isFinite)) results.push(...check(key, sample));
  }
  return results;
}

async function controlsCase({ folder, tolerances }: PartContext): Promise<Comparison[]> {
  const golden = GoldenTensors.read(folder, 'opencv_controls');
  const image = golden.get('image_u8');
  if (!image) throw new Error('opencv_controls has no image_u8');
  const [height = 0, width = 0] = image.shape;
  const clip = { width, height, frames: 1, fps: null, data: Uint8Array.from(image.values) };
  const results: Comparison[] = [];
  for (const key of golden.keys) {
    const [kind, preset = ''] = key.split('/');
    const expected = golden.get(key)?.values ?? new Uint8Array();
    if (kind === 'canny_rgb') {
      const edges = (await edgeControl(clip, preset as EdgePreset)).data.filter((_, i) => i % 3 === 0);
      results.push(compare(tolerances, 'edges', key, edges, expected));
    }
    if (kind === 'blur')
      results.push(compare(tolerances, 'resized', key, (await blurControl(clip, preset as BlurPreset)).data, expected));
  }
  return results;
}

/** Text and id pairs of `_tokenizer`. */
export function tokenizerCase({ folder, tokenizer, tolerances }: PartContext): Comparison[] {
  const pairs = (folder.index._tokenizer ?? []) as readonly {
    readonly text: string;
    readonly ids: readonly number[];
  }[];
  return pairs.map(({ text, ids }) =>
    compare(tolerances, 'ids', JSON.stringify(text).slice(0, 24), tokenizer.encode(text), ids),
  );
}
