// A denoised latent as a file, for whoever decodes it.

import { RequestError } from '../../../protocol/index.js';
import { fromFloat32, writeSafetensors } from '../../../weights/index.js';
import { checkWritable } from '../../outputs/output-target.js';
import type { VideoLatent } from '../cosmos3-video.js';

/** @throws RequestError unless the file can be written and ends in .safetensors */
export function checkOutputFile(path: string): void {
  if (!path.endsWith('.safetensors'))
    throw new RequestError('invalid_value', 'output', `output ${path} must end in .safetensors`);
  checkWritable([{ path, kind: 'safetensors' }]);
}

/** Writes `latent`, `[1, C, T, H, W]`, float32. */
export async function writeLatent(path: string, { shape, data }: VideoLatent): Promise<void> {
  await writeSafetensors(path, [{ name: 'latent', dtype: 'f32', shape, bytes: fromFloat32(data, 'f32') }], {
    format: 'pt',
  });
}
