// Bodies of the generation routes: the shared fields and what each route has of its own.
import Type from 'typebox';
import { extraParams } from './extra-params.js';
import { generationFields } from './generation-fields.js';
import { structuredParams } from './structured-params.js';

const { generate_sound, sound_duration, num_frames, seconds, fps, ...imageFields } = generationFields;

/** `extra_params` of either route. Members that it does not list are dropped and named. */
export const ExtraParams = Type.Object({ ...extraParams, ...structuredParams });

/** `POST /v1/images/generations`. */
export const ImageRequest = Type.Object({
  ...imageFields,
  prompt: Type.String({ description: 'What to make: plain words, or a JSON object with the structured prompt.' }),
  n: Type.Optional(Type.Integer({ minimum: 1, maximum: 10, description: 'Pictures to make, one after the other.' })),
  response_format: Type.Optional(
    Type.Enum(['b64_json', 'file'], { description: 'Pictures inside the JSON reply, or the file itself.' }),
  ),
  output_format: Type.Optional(
    Type.Enum(['png', 'jpeg', 'jpg', 'webp'], { description: 'Picture format: png, jpeg, jpg, webp.' }),
  ),
  store: Type.Optional(
    Type.Boolean({ description: 'False: the picture is not kept as a job after it was delivered.' }),
  ),
  extra_params: Type.Optional(ExtraParams),
});

/** Fields of `POST /v1/videos` and `POST /v1/videos/sync`; uploads are parts of the form beside them. */
export const VideoRequest = Type.Object({
  ...generationFields,
  prompt: Type.String({ description: 'What to make: plain words, or a JSON object with the structured prompt.' }),
  num_outputs_per_prompt: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10, description: 'Taken for compatibility; one clip is made.' }),
  ),
  image_reference: Type.Optional(
    Type.Object({ image_url: Type.String({ description: 'http(s) or data URL of the picture to start from.' }) }),
  ),
  video_reference: Type.Optional(
    Type.Object({ video_url: Type.String({ description: 'http(s) or data URL of the clip to start from.' }) }),
  ),
  control_type: Type.Optional(
    Type.Enum(['blur', 'depth', 'edge', 'seg', 'wsm'], { description: 'Kind of the uploaded control_reference.' }),
  ),
  extra_params: Type.Optional(ExtraParams),
});
