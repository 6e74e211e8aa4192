// Makes clips, pictures, sound and actions through the engine's public interface and brings back what they show.
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
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

export interface StudioOptions {
  /** Folder in which everything made stays, and is found again by an equal plan for equal weights; a temporary one where absent. */
  readonly keep?: string | undefined;
  /** Fields laid over every request. */
  readonly overlay?: Partial<LibraryRequest>;
}

/** Name of what is being made: several processes may share a folder. */
const fresh = `new-${process.pid}`;

/** An engine with a folder for what it writes. */
export class Studio implements Disposable {
  readonly #engine: Orrery;
  readonly #folder: string;
  readonly #isKept: boolean;
  readonly #overlay: Partial<LibraryRequest>;
  #weights: string | undefined;

  constructor(engine: Orrery, { keep, overlay = {} }: StudioOptions = {}) {
    this.#engine = engine;
    this.#isKept = keep !== undefined;
    this.#folder = keep ?? mkdtempSync(join(tmpdir(), 'orrery-world-'));
    mkdirSync(this.#folder, { recursive: true });
    this.#overlay = overlay;
  }

  /** A picture as a clip of one frame. */
  async picture(request: Asked): Promise<RgbClip> {
    const [path] = await this.#make(request, ['png']);
    return imageAsClip(await decodeImage(path as string));
  }

  /** A clip. */
  async clip(request: Asked): Promise<RgbClip> {
    const [path] = await this.#make(request, ['mp4']);
    return decodeVideo(path as string);
  }

  /** A clip with its sound. */
  async clipWithSound(request: Asked): Promise<{ readonly clip: RgbClip; readonly sound: Waveform }> {
    const [video, wav] = (await this.#make({ ...request, sound: true }, ['mp4', 'wav'])) as [string, string];
    return { clip: await decodeVideo(video), sound: decodeWav(await readFile(wav)) };
  }

  /** Action rows alone. */
  async actions(request: Asked): Promise<readonly (readonly number[])[]> {
    const path = await this.#path(request, 'actions.json');
    if (existsSync(path)) return JSON.parse(await readFile(path, 'utf8'));
    const output = join(this.#folder, `${fresh}.json`);
    const asked = { prompt: '', ...request, ...this.#overlay };
    const { action } = await this.#engine.generate(asked, { output }).result();
    if (action === null) throw new Error(`${request.task} made no actions`);
    // Under its own name only when it is whole: a run that was broken off goes on from what it finds.
    await writeFile(output, JSON.stringify(action.data));
    await rename(output, path);
    return action.data;
  }

  [Symbol.dispose](): void {
    if (!this.#isKept) rmSync(this.#folder, { recursive: true });
  }

  /** Makes what was not made before; the paths of the files by extension. */
  async #make(request: Asked, extensions: readonly string[]): Promise<string[]> {
    const paths = await Promise.all(extensions.map((extension) => this.#path(request, extension)));
    if (paths.every((path) => existsSync(path))) return paths;
    const output = extensions.map((extension) => join(this.#folder, `${fresh}.${extension}`));
    await this.#engine.generate({ prompt: '', ...request, ...this.#overlay }, { output }).result();
    for (const [i, path] of paths.entries()) await rename(output[i] as string, path);
    if (this.#isKept)
      appendFileSync(join(this.#folder, 'made.jsonl'), `${JSON.stringify({ paths, prompt: request.prompt })}\n`);
    return paths;
  }

  /** Where the result of a request lies, named by its plan and the weights. */
  async #path(request: Asked, extension: string): Promise<string> {
    const { hash } = await this.#engine.plan({ prompt: '', ...request, ...this.#overlay });
    this.#weights ??= weightsOf(this.#engine.path);
    const name = createHash('sha256').update(`${hash} ${this.#weights}`).digest('hex').slice(0, 24);
    return join(this.#folder, `${name}.${extension}`);
  }
}

/** Size and time of each file of weights: another value after another training. */
function weightsOf(folder: string): string {
  if (!statSync(folder).isDirectory()) return `${folder} ${statSync(folder).mtimeMs}`;
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.safetensors'))
    .sort()
    .map((name) => `${name} ${statSync(join(folder, name)).size} ${statSync(join(folder, name)).mtimeMs}`)
    .join('\n');
}
