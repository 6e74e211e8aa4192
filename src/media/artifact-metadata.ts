// Gets back the text that `encodeVideo`, `encodeImage` and `encodeWav` put into a file.
import { extractText } from './image/embedded-text.js';
import { wavComment } from './sound/wav.js';
import { readSource, requireType } from './source.js';
import { readMp4 } from './video/mp4-boxes.js';

/**
 * The text carried by an MP4, PNG, JPEG, WebP or WAV file, or null if it carries none.
 * Throws MediaError `missing_file`, `unsupported_type` or `unreadable`.
 */
export async function readArtifactMetadata(path: string): Promise<string | null> {
  const type = await requireType(path, ['mp4', 'png', 'jpeg', 'webp', 'wav'], 'a file with metadata');
  switch (type) {
    case 'mp4':
      return (await readMp4(path)).comment;
    case 'wav':
      return wavComment(await readSource(path));
    case 'png':
    case 'jpeg':
    case 'webp':
      return extractText(await readSource(path), type);
    default:
      return type satisfies never;
  }
}
