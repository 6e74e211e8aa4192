// Body of a job of any kind -> generation form: that of a video, and for pictures the format of the file.
import { RequestBody } from '../bodies/request-body.js';
import { readWord } from '../requests/generation-form.js';
import { readVideoForm, type VideoForm } from '../requests/read-video-form.js';

const formats = ['png', 'jpeg', 'jpg', 'webp'] as const;

/** A request of any kind. */
export interface JobForm extends VideoForm {
  /** Of a picture. */
  readonly format: 'png' | 'jpeg' | 'webp';
}

/** Reads the body. @throws RequestError naming the field at fault */
export function readJobForm(body: RequestBody): JobForm {
  const { output_format: _format, ...values } = body.values;
  const format = readWord(body.values, 'output_format', formats) ?? 'png';
  const form = readVideoForm(new RequestBody(values, body.files, body.isForm));
  return { ...form, format: format === 'jpg' ? 'jpeg' : format };
}
