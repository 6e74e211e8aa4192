// The sound tokenizer of Cosmos3.
export { parseSoundTokenizerConfig, type SoundTokenizerConfig } from './config.js';
export {
  type DecodeSoundOptions,
  decodeSound,
  encodeSound,
  readSoundTokenizer,
  type SoundTokenizer,
} from './sound-tokenizer.js';
