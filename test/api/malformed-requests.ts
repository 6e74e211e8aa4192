// A grammar of requests with one thing wrong: a field of the wrong form, in one of the encodings, on one of the routes.
import fc from 'fast-check';
import type { TSchema } from 'typebox';
import { extraParams, generationFields, ImageRequest, parseField, VideoRequest } from '../../src/protocol/index.js';

/** A request that must be refused. */
export interface BadRequest {
  readonly path: string;
  readonly contentType: string | null;
  readonly body: string | FormData;
  /** The field at fault. */
  readonly param: string;
}

type Encoding = 'json' | 'form' | 'multipart';

/** Nothing here is dear, should a request be taken after all. */
const base = { prompt: 'A ball.', size: '64x64', num_frames: 1, num_inference_steps: 1, guidance_scale: 1 };

/** Values that some field will not like. */
const values: fc.Arbitrary<unknown> = fc.oneof(
  fc.integer({ min: -1000, max: 1000 }),
  fc.double(),
  fc.constantFrom(1e308, -1e308, 2 ** 53, -(2 ** 53), 1e-320, -0, 0),
  fc.boolean(),
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '',
    ' ',
    'null',
    'NaN',
    'Infinity',
    '1e999',
    '0x10',
    '1280X720',
    '-1x-1',
    '0x0',
    '1,2',
    '{}',
    '[]',
    'true',
    '\0',
    '💥',
    'x'.repeat(5000),
  ),
  fc.array(fc.integer(), { maxLength: 3 }),
  fc.dictionary(fc.string({ maxLength: 5 }), fc.integer(), { maxKeys: 2 }),
  fc.constantFrom([[[[[[[[]]]]]]]], { a: { b: { c: { d: 1 } } } }, [null], {}),
);

/** Members that are read by hand, with values that none of their spellings has. */
const structured: Readonly<Record<string, readonly unknown[]>> = {
  guidance_interval: ['1', [1], [2, 1], [1, 2, 3], [-1, 5], [0, 1001], 'a,b', {}, true],
  control_guidance_interval: ['x', [5], [1000, 0], {}],
  condition_frame_indexes_vision: ['a', [], [-1], [1.5], {}, '1;2', true],
  skip_steps: ['x', [], [-3], [0.5], {}],
  edge: [5, [], { preset_edge_threshold: 'x' }, { unknown: 1 }, { control_weight: -1 }, { control_weight: 'x' }],
  blur: [1, { preset_blur_strength: 7 }, { control: 'x' }],
  depth: [false, 7, { control_path: 5 }, { control: [[1]] }],
  action: ['x', 5, [], [[]], [[1, 'a']], [[1], [1, 2]], { data: 5 }],
  action_history: ['x', [[null]], 7],
  modalities: ['sculpture', ['image', 'video'], [5]],
  video_codec_options: ['x', [1], { crf: [1] }, { crf: null }],
};

const invalid = (name: string, schema: TSchema, encoding: Encoding) => (value: unknown) => {
  if (value === null || value === undefined) return false;
  const sent = encoding === 'json' ? JSON.parse(JSON.stringify(value) ?? 'null') : asText(value);
  // Empty text of a form stands for absent.
  if (sent === null || (encoding !== 'json' && (sent === '' || /\0|\r|\n/.test(sent)))) return false;
  try {
    parseField(name, schema, sent);
    return false;
  } catch {
    return true;
  }
};

function asText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const { prompt: _prompt, model: _model, ...fields } = generationFields;
// A guidance of the image route's own kind of true is checked elsewhere; text is taken as it stands.
const isText = (schema: TSchema) => 'type' in schema && schema.type === 'string' && !('pattern' in schema);
const checked = (table: Readonly<Record<string, TSchema>>) =>
  Object.entries(table).filter(([, schema]) => !isText(schema));

const video = checked({ ...fields, num_outputs_per_prompt: VideoRequest.properties.num_outputs_per_prompt });
const picture = checked({
  ...Object.fromEntries(Object.entries(fields).filter(([name]) => name in ImageRequest.properties && name !== 'size')),
  n: ImageRequest.properties.n,
  output_format: ImageRequest.properties.output_format,
  response_format: ImageRequest.properties.response_format,
});
const extras = checked(extraParams).filter(([name]) => name !== 'task');

const encodings = fc.constantFrom<Encoding>('json', 'form', 'multipart');
const videoPaths = fc.constantFrom('/v1/videos', '/v1/videos/sync', '/v1/jobs', '/v1/plan');

/** A field of the wrong form. */
const badField = fc
  .tuple(encodings, fc.boolean(), videoPaths)
  .chain(([encoding, isPicture, videoPath]) =>
    fc
      .constantFrom(...(isPicture ? picture : video))
      .chain(([name, schema]) =>
        values
          .filter(invalid(name, schema, encoding))
          .map((value) =>
            encode(
              isPicture ? '/v1/images/generations' : videoPath,
              encoding,
              { ...base, ...(isPicture ? { num_frames: undefined } : {}), [name]: value },
              name,
            ),
          ),
      ),
  );

/** An extra parameter of the wrong form. */
const badExtra = fc.tuple(encodings, videoPaths).chain(([encoding, path]) =>
  fc.constantFrom(...extras).chain(([name, schema]) =>
    // Members of a form's object are JSON all the same.
    values
      .filter(invalid(name, schema, 'json'))
      .map((value) => encode(path, encoding, { ...base, extra_params: { [name]: value } }, name)),
  ),
);

/** An extra parameter with an inner form. */
const badStructure = fc
  .tuple(encodings, videoPaths)
  .chain(([encoding, path]) =>
    fc
      .constantFrom(...Object.entries(structured))
      .chain(([name, bad]) =>
        fc
          .constantFrom(...bad)
          .map((value) => encode(path, encoding, { ...base, extra_params: { [name]: value } }, name)),
      ),
  );

/** Requests that must be refused. The same seed gives the same ones. */
export function sampleBadRequests(count: number, seed: number): readonly BadRequest[] {
  return fc.sample(
    fc.oneof(
      { arbitrary: badField, weight: 3 },
      { arbitrary: badExtra, weight: 2 },
      { arbitrary: badStructure, weight: 1 },
    ),
    { numRuns: count, seed },
  );
}

function encode(
  path: string,
  encoding: Encoding,
  members: Readonly<Record<string, unknown>>,
  param: string,
): BadRequest {
  const given = Object.entries(members).filter(([, value]) => value !== undefined);
  if (encoding === 'json')
    return { path, contentType: 'application/json', body: JSON.stringify(Object.fromEntries(given)), param };
  const texts = given.map(([name, value]) => [name, asText(value)] as const);
  if (encoding === 'form') {
    const body = new URLSearchParams(Object.fromEntries(texts)).toString();
    return { path, contentType: 'application/x-www-form-urlencoded', body, param };
  }
  const form = new FormData();
  for (const [name, text] of texts) form.append(name, text);
  return { path, contentType: null, body: form, param };
}
