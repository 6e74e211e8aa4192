// Makes clips, pictures, sound and actions through the engine's public interface and brings back what they show.
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LibraryRequest, Orrery } from '../../../src/index.js';
import {
  decodeImage,
  decodeVideo,
  decodeWav,
  imageAsClip,
  type RgbClip,
  type Waveform,
} from '../../../src/media/index.js';

type Asked = Omit<LibraryRequest, 'prompt'> & { readonly prompt?: string };

/** An engine with a folder for what it writes. */
export class Studio implements Disposable {
  readonly #engine: Orrery;
  readonly #folder = mkdtempSync(join(tmpdir(), 'orrery-world-'));
  #made = 0;

  constructor(engine: Orrery) {
    this.#engine = engine;
  }

  /** A picture as a clip of one frame. */
  async picture(request: Asked): Promise<RgbClip> {
    const path = this.#path('png');
    await this.#engine.generate({ prompt: '', ...request }, { output: path }).result();
    return imageAsClip(await decodeImage(path));
  }

  /** A clip. */
  async clip(request: Asked): Promise<RgbClip> {
    const path = this.#path('mp4');
    await this.#engine.generate({ prompt: '', ...request }, { output: path }).result();
    return decodeVideo(path);
  }

  /** A clip with its sound. */
  async clipWithSound(request: Asked): Promise<{ readonly clip: RgbClip; readonly sound: Waveform }> {
    const [video, wav] = [this.#path('mp4'), this.#path('wav')];
    await this.#engine.generate({ prompt: '', ...request, sound: true }, { output: [video, wav] }).result();
    return { clip: await decodeVideo(video), sound: decodeWav(await readFile(wav)) };
  }

  /** Action rows alone. */
  async actions(request: Asked): Promise<readonly (readonly number[])[]> {
    const path = this.#path('json');
    const { action } = await this.#engine.generate({ prompt: '', ...request }, { output: path }).result();
    if (action === null) throw new Error(`${request.task} made no actions`);
    return action.data;
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true });
  }

  #path(extension: string): string {
    return join(this.#folder, `${this.#made++}.${extension}`);
  }
}
