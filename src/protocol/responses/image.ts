// Replies of the image routes, and of chat where it makes pictures.
import Type, { type Static } from 'typebox';
import { list, numberOrNull, textOrNull, valueOrNull } from './nullable.js';

/** Reply of `POST /v1/images/generations`. */
export const ImageResponse = Type.Object({
  created: Type.Integer({ description: 'Unix seconds.' }),
  data: list(
    Type.Object({
      b64_json: Type.String({ description: 'The picture file, in base64.' }),
      url: Type.Null(),
      revised_prompt: Type.Null(),
    }),
    'Pictures in order.',
  ),
  output_format: Type.String(),
  size: textOrNull('As the request had it.'),
  cot_output: Type.Null(),
  metrics: Type.Object({
    stage_durations: valueOrNull(Type.Record(Type.String(), Type.Number()), 'Seconds by phase.'),
    peak_memory_mb: numberOrNull('Most memory of the device process.'),
    inference_time_s: numberOrNull('Seconds of all pictures together.'),
  }),
  seeds: list(
    Type.Integer(),
    'Seed of each picture; picture i is made again alone by its seed and extra_params.noise_index: i.',
  ),
  warnings: list(Type.Object({ param: Type.String(), message: Type.String() }), 'What was dropped or rounded.'),
});
export type ImageResponse = Static<typeof ImageResponse>;

/** Body of `POST /v1/chat/completions`, as far as it matters here. Further parameters may stand at the top level or in extra_body. */
export const ChatRequest = Type.Object({
  model: Type.Optional(Type.String()),
  messages: list(
    Type.Object({
      role: Type.String(),
      content: Type.Union([
        Type.String(),
        list(
          Type.Object({
            type: Type.String({ description: 'text or image_url.' }),
            text: Type.Optional(Type.String()),
            image_url: Type.Optional(Type.Object({ url: Type.String() })),
          }),
          'Parts.',
        ),
      ]),
    }),
    'The text of the user is the prompt.',
  ),
  extra_body: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'Generation parameters.' })),
});

/** Reply of `POST /v1/chat/completions`. */
export const ChatResponse = Type.Object({
  id: Type.String(),
  object: Type.Literal('chat.completion'),
  created: Type.Integer(),
  model: Type.String(),
  choices: list(
    Type.Object({
      index: Type.Integer(),
      message: Type.Object({
        role: Type.Literal('assistant'),
        content: list(
          Type.Object({ type: Type.Literal('image_url'), image_url: Type.Object({ url: Type.String() }) }),
          'Pictures as data URLs.',
        ),
      }),
      finish_reason: Type.Literal('stop'),
    }),
    'Always one.',
  ),
  usage: Type.Object({
    prompt_tokens: Type.Integer({ description: 'Words of the prompt.' }),
    completion_tokens: Type.Integer(),
    total_tokens: Type.Integer(),
  }),
});
export type ChatResponse = Static<typeof ChatResponse>;
