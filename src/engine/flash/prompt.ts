// A dump made ready on a device: its text's keys and values, its noise, its timesteps, and the recorded steps.
import { type Backend, disposeTensors, uploadFloats } from '../../backend/index.js';
import {
  groupRoutes,
  type KvCache,
  planWideSteps,
  prefillRows,
  type RopeTables,
  type Transformer,
  unpatchify,
} from '../../models/cosmos3-transformer/index.js';
import { jointRoutes } from '../../pipeline/conditioning/sequence.js';
import { VideoLoop } from '../../pipeline/flash/video-loop.js';
import type { LatentShape, ReferenceDump } from './files/reference-dump.js';
import { type DumpTimesteps, recogniseTimesteps } from './shift-check.js';

/** What runs are made from until the next prompt. */
export interface Prompt extends Disposable {
  readonly steps: number;
  readonly latentShape: LatentShape;
  readonly loop: VideoLoop;
  /** The dump's final latent, `[1, C, T, H, W]`. */
  readonly reference: Float32Array;
  readonly stated: number | null;
  readonly found: DumpTimesteps;
}

/**
 * Reads all of a dump and runs its text. Nothing of the file is read afterwards.
 * @throws IncompleteFileError for timestep embeddings that are not one row a step; OutOfMemoryError
 */
export async function readPrompt(
  b: Backend,
  transformer: Transformer,
  dump: ReferenceDump,
  hasTimeEmbedder: boolean,
): Promise<Prompt> {
  const owned: unknown[] = [];
  const own = <T>(value: T): T => {
    owned.push(value);
    return value;
  };
  try {
    const { hidden, patch } = transformer.config;
    const [, channels, frames, height, width] = dump.latentShape;
    const { rows, noisy } = dump.timesteps();
    const tokens = dump.noiseTokens();
    const noise = own(
      b.scope(() =>
        unpatchify(b, uploadFloats(b, tokens.values, tokens.shape), [frames, height, width, channels], patch),
      ),
    );
    const context = {
      text: own(prefillDump(b, transformer, dump)),
      rope: own(uploadRope(b, dump.genRope())),
      routes: own(groupRoutes(b, jointRoutes(noisy.length))),
    };
    const loop = new VideoLoop(b, transformer, {
      context,
      noise,
      noisy: own(uploadFloats(b, noisy, [noisy.length])),
      timestepRows: own(uploadFloats(b, rows, [dump.steps, hidden])),
      wide: planWideSteps(transformer.quantization, dump.steps),
    });
    owned.unshift(loop);
    const found: DumpTimesteps = hasTimeEmbedder ? await recogniseTimesteps(b, transformer, rows) : { kind: 'unknown' };
    return {
      steps: dump.steps,
      latentShape: dump.latentShape,
      loop,
      reference: dump.finalLatent(),
      stated: dump.shift,
      found,
      [Symbol.dispose]: () => disposeTensors(owned),
    };
  } catch (error) {
    disposeTensors(owned);
    throw error;
  }
}

function prefillDump(b: Backend, transformer: Transformer, dump: ReferenceDump): KvCache {
  const layers = b.scope(() => {
    const { values } = dump.textRows();
    const { hidden } = transformer.config;
    const rows = b.cast(uploadFloats(b, values, [values.length / hidden, hidden]), b.activationDtype); // [L, D]
    return prefillRows(b, transformer, rows, uploadRope(b, dump.textRope())).layers.map(({ k, v }) => ({ k, v }));
  });
  return { textTokens: layers[0]?.k.shape[0] ?? 0, layers };
}

type HostTable = { readonly shape: readonly number[]; readonly values: Float32Array };

function uploadRope(b: Backend, { cos, sin }: Readonly<Record<keyof RopeTables, HostTable>>): RopeTables {
  return { cos: uploadFloats(b, cos.values, cos.shape), sin: uploadFloats(b, sin.values, sin.shape) };
}
