// What planning needs to know of a checkpoint. Reads configurations and the tokenizer, no weights.
import { basename } from 'node:path';
import { parseTransformerConfig } from '../../models/cosmos3-transformer/index.js';
import { parseSoundTokenizerConfig } from '../../models/sound-tokenizer/index.js';
import { parseWanVaeConfig } from '../../models/wan-vae/index.js';
import type { CheckpointFacts } from '../../pipeline/facts.js';
import { loadTokenizer } from '../../tokenizer/index.js';
import type { Checkpoint } from '../../weights/index.js';
import { readCheckpointDefaults } from './checkpoint-defaults.js';

/**
 * Reads the facts.
 * @param id how the checkpoint is named in plans
 * @throws CheckpointError, ConfigError or TokenizerError naming the file
 */
export function readCheckpointFacts(checkpoint: Checkpoint, id: string): CheckpointFacts {
  const transformerPart = checkpoint.part('transformer');
  const transformer = parseTransformerConfig(transformerPart.config, transformerPart.path);
  const vaePart = checkpoint.part('vae');
  const vae = parseWanVaeConfig(vaePart.config, vaePart.path);
  const soundPart =
    transformer.sound !== null && checkpoint.has('sound_tokenizer') ? checkpoint.part('sound_tokenizer') : null;
  const sound = soundPart === null ? null : parseSoundTokenizerConfig(soundPart.config, soundPart.path);
  return {
    id,
    family: transformer.mlp === 'relu2' ? 'edge' : 'nano',
    tokenizer: loadTokenizer(checkpoint.part('text_tokenizer').path),
    hasSound: sound !== null,
    actionDim: transformer.action?.dim ?? null,
    domains: transformer.action?.domains ?? 0,
    distilledSigmas: checkpoint.index.distilledSigmas ?? null,
    defaults: readCheckpointDefaults(checkpoint.index.orreryDefaults, checkpoint.path),
    spatialCompression: vae.spatialFactor,
    temporalCompression: vae.temporalFactor,
    sound: sound === null ? null : { sampleRate: sound.sampleRate, hop: sound.hop },
  };
}

/** The name of a checkpoint in plans: the repository id, or the last part of a path, so that plans do not depend on the machine. */
export function checkpointName(model: string, path: string, isLocal: boolean): string {
  return isLocal ? basename(path) : model;
}
