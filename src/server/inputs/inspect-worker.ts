// The process in which files of strangers are looked at. It dies with the server, and the server kills it when it takes too much.
import { MediaError } from '../../media/index.js';
import { inspectMedia } from './inspect-media.js';
import type { InspectionAnswer, InspectionQuestion } from './media-inspector.js';

process.on('disconnect', () => process.exit(0));
process.on('message', (question: InspectionQuestion) => {
  void answer(question).then((reply) => process.send?.(reply));
});

async function answer({ path, limits }: InspectionQuestion): Promise<InspectionAnswer> {
  try {
    return { ok: true, inspection: await inspectMedia(path, limits) };
  } catch (error) {
    const code = error instanceof MediaError ? error.code : null;
    return { ok: false, code, message: error instanceof Error ? error.message : String(error) };
  }
}
