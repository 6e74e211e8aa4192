// Names beyond the schemas: other spellings of known parameters, and parameters of other models that are taken and not used.
import { extraParams } from './extra-params.js';
import { generationFields } from './generation-fields.js';
import { structuredParams } from './structured-params.js';

/** Other spelling -> wire name. */
export const aliases: Readonly<Record<string, string>> = {
  sound_gen: 'generate_sound',
  audio_duration: 'sound_duration',
  image_size: 'resolution',
  guidance: 'guidance_scale',
  shift: 'flow_shift',
  num_steps: 'num_inference_steps',
  frame_rate: 'fps',
  resolved_frame_rate: 'fps',
};

/** Parameters that other models of the same interface have; nothing here depends on them. */
export const unusedNames: ReadonlySet<string> = new Set([
  'action_space',
  'audio_reference',
  'boundary_ratio',
  'bot_task',
  'generator_device',
  'guidance_scale_2',
  'infer_align_image_size',
  'layers',
  'preencode_batch_frames',
  'preencode_mp4',
  'quality',
  'return_stage_metrics',
  'short_edge',
  'start_time_seconds',
  'true_cfg_scale',
  'user',
  'vae_use_slicing',
]);

/** Parameters that would change the result and are not available; giving one is an error rather than a surprise. */
export const unavailableNames: Readonly<Record<string, string>> = {
  lora: 'adapters of single requests are not available; start with --lora-path, which applies one to all',
  enable_frame_interpolation: 'frame interpolation is not available; ask for more frames',
  timeline_guides: 'this model does not support timeline guides',
  guide_files: 'this model does not support timeline guides',
  source_video: 'this model does not support timeline guides; give the clip as video',
  source_audio: 'this model does not support timeline guides',
};

/** Every name that means something: fields, extra parameters and other spellings. */
export const knownNames: readonly string[] = [
  ...Object.keys(generationFields),
  ...Object.keys(extraParams),
  ...Object.keys(structuredParams),
  ...Object.keys(aliases),
];
