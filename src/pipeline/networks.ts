// The loaded networks of one checkpoint on one device.
import type { Backend } from '../backend/index.js';
import type { Transformer } from '../models/cosmos3-transformer/index.js';
import type { SoundTokenizer } from '../models/sound-tokenizer/index.js';
import type { WanVae } from '../models/wan-vae/index.js';

export interface Networks {
  readonly backend: Backend;
  readonly transformer: Transformer;
  readonly vae: WanVae;
  readonly sound: SoundTokenizer | null;
}
