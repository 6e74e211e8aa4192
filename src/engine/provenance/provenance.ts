// How an artifact says what it was made from: its plan, the hash of its raw frames, where it was made, its inputs' places.
import Type from 'typebox';
import Value from 'typebox/value';
import type { Plan } from '../../pipeline/plan-types.js';
import { hintKinds, tasks } from '../../pipeline/request.js';
import type { MergedLora } from '../../weights/index.js';
import type { Fingerprint } from './fingerprint.js';

/** Places of inputs as the caller gave them; pixels and bytes have none. */
export interface InputPlaces {
  readonly model: string | null;
  readonly image: string | null;
  readonly video: string | null;
  readonly controls: Readonly<Record<string, string | null>>;
}

/** What an artifact carries. */
export interface Provenance {
  readonly orrery: 1;
  readonly plan: Plan;
  /** SHA-256 of all RGB bytes of the result in order; null where it has no frames. */
  readonly framesSha256: string | null;
  readonly fingerprint: Fingerprint;
  readonly inputs: InputPlaces;
  /** The adapter that was merged into the checkpoint, by its contents; absent where there was none. */
  readonly lora?: MergedLora;
  /** Encoder options beyond the usual ones. */
  readonly codecOptions: Readonly<Record<string, string | number>>;
}

/** The text that goes into the artifact. It holds nothing that differs between two equal runs. */
export function writeProvenance(provenance: Provenance): string {
  return JSON.stringify(provenance);
}

const size = Type.Object({ width: Type.Integer({ minimum: 1 }), height: Type.Integer({ minimum: 1 }) });
const interval = Type.Union([Type.Tuple([Type.Number(), Type.Number()]), Type.Null()]);
const prompt = Type.Object({
  text: Type.String(),
  tokens: Type.Array(Type.Integer({ minimum: 0 })),
  truncated: Type.Boolean(),
});
const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const place = orNull(Type.String());
const count = Type.Integer({ minimum: 0 });

const planSchema = Type.Object({
  version: Type.Literal(1),
  task: Type.Enum([...tasks]),
  model: Type.String(),
  canvas: size,
  content: size,
  frames: Type.Integer({ minimum: 1 }),
  fps: Type.Number({ exclusiveMinimum: 0 }),
  steps: Type.Integer({ minimum: 1 }),
  schedule: Type.Union([
    Type.Object({
      solver: Type.Literal('unipc'),
      grid: Type.Enum(['native', 'linspace', 'karras']),
      flowShift: Type.Number(),
      order: Type.Enum([1, 2, 3]),
      variant: Type.Enum(['bh1', 'bh2']),
      karras: orNull(Type.Object({ sigmaMin: Type.Number(), sigmaMax: Type.Number() })),
    }),
    Type.Object({ solver: Type.Literal('flow-euler'), sigmas: Type.Array(Type.Number()) }),
  ]),
  guidance: Type.Object({ scale: Type.Number(), interval, controlScale: Type.Number(), controlInterval: interval }),
  seed: Type.Integer(),
  draw: Type.Integer({ minimum: 0, default: 0 }),
  prompt,
  negativePrompt: orNull(prompt),
  condition: orNull(
    Type.Object({
      source: Type.Enum(['image', 'video']),
      latentFrames: Type.Array(count),
      pixelFrames: Type.Integer({ minimum: 1 }),
      keep: Type.Enum(['first', 'last']),
      fit: Type.Enum(['cover', 'pad']),
    }),
  ),
  sound: orNull(Type.Object({ samples: count, latentFrames: count, trim: Type.Boolean() })),
  action: orNull(
    Type.Object({
      mode: Type.Enum(['policy', 'forward-dynamics', 'inverse-dynamics']),
      domain: count,
      rawDim: count,
      rows: count,
      historyRows: count,
      fps: Type.Number(),
      offset: Type.Enum([0, 1]),
      given: Type.Array(Type.Array(Type.Number())),
      decodeVideo: Type.Boolean(),
    }),
  ),
  transfer: orNull(
    Type.Object({
      hints: Type.Array(
        Type.Object({
          kind: Type.Enum([...hintKinds]),
          computed: Type.Boolean(),
          weight: Type.Number(),
          preset: Type.Enum(['none', 'very_low', 'low', 'medium', 'high', 'very_high']),
        }),
      ),
      attention: Type.Enum(['weighted', 'joint']),
      chunkFrames: count,
      totalFrames: count,
      conditionalFrames: count,
      firstChunkConditionalFrames: count,
      showControlCondition: Type.Boolean(),
      showInput: Type.Boolean(),
      shareTemporalPositions: Type.Boolean(),
    }),
  ),
  skip: Type.Object({ steps: Type.Array(count), mode: Type.Enum(['hold', 'extrapolate']) }),
  // Artifacts of before there was any have none.
  reuse: Type.Object(
    {
      stepCache: orNull(
        Type.Object({
          kind: Type.Enum(['teacache', 'seacache']),
          threshold: Type.Number({ minimum: 0 }),
          warmupSteps: count,
          maxConsecutive: Type.Integer({ minimum: 1 }),
          coefficients: Type.Array(Type.Number()),
          power: Type.Number(),
        }),
      ),
      guidanceEvery: Type.Integer({ minimum: 1 }),
    },
    { default: { stepCache: null, guidanceEvery: 1 } },
  ),
  inputs: Type.Array(
    Type.Object({
      role: Type.Enum(['image', 'video', 'control', 'actions']),
      sha256: Type.String(),
      width: count,
      height: count,
      frames: count,
    }),
  ),
});

const provenanceSchema = Type.Object({
  orrery: Type.Literal(1),
  plan: planSchema,
  framesSha256: place,
  fingerprint: Type.Object({
    orrery: Type.String(),
    checkpoint: Type.String(),
    device: Type.String(),
    blas: Type.String(),
    node: Type.String(),
    ffmpeg: place,
  }),
  inputs: Type.Object({ model: place, image: place, video: place, controls: Type.Record(Type.String(), place) }),
  lora: Type.Optional(Type.Object({ sha256: Type.String(), scale: Type.Number() })),
  codecOptions: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()])),
});

/** The provenance that a text holds, or undefined when it holds none that this version can read. */
export function readProvenance(text: string): Provenance | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  // Files of before a member was added to plans are read with what it then was.
  const complete = Value.Default(provenanceSchema, value);
  return Value.Check(provenanceSchema, complete) ? complete : undefined;
}
