// What a result's exact bytes depend on besides its plan: program, device, libraries.
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { Checkpoint } from '../../weights/index.js';
import { packageVersion } from '../package-info.js';

/** Equal fingerprints and equal plans give equal bytes. */
export interface Fingerprint {
  readonly orrery: string;
  /** Names and sizes of weight files and the configurations, by hash; of a merged adapter its contents and its scale. */
  readonly checkpoint: string;
  readonly device: string;
  /** Version of the OpenBLAS in use, or `built-in`. */
  readonly blas: string;
  readonly node: string;
  /** Build of the encoder; null where none was used. */
  readonly ffmpeg: string | null;
}

/** Hash that tells checkpoints apart: part names, configurations, names and sizes of weight files, and what is merged into them. */
export function hashCheckpoint(checkpoint: Checkpoint): string {
  const hash = createHash('sha256');
  for (const name of [...checkpoint.partNames].sort()) {
    const part = checkpoint.part(name);
    const files = part.weightFiles().map(({ path, size }) => [basename(path), size]);
    hash.update(JSON.stringify([name, part.config, files]));
  }
  const { lora } = checkpoint;
  if (lora !== undefined) hash.update(JSON.stringify(['lora', lora.sha256, lora.scale]));
  return hash.digest('hex').slice(0, 16);
}

/** The fingerprint of this process. */
export function makeFingerprint(parts: {
  readonly checkpoint: string;
  readonly device: string;
  readonly blas: string;
  readonly ffmpeg: string | null;
}): Fingerprint {
  return { orrery: packageVersion(), node: process.versions.node.split('.')[0] ?? '', ...parts };
}

/** Names of the fields in which two fingerprints differ. */
export function differingFields(a: Fingerprint, b: Fingerprint): readonly (keyof Fingerprint)[] {
  const names: readonly (keyof Fingerprint)[] = ['orrery', 'checkpoint', 'device', 'blas', 'node', 'ffmpeg'];
  return names.filter((name) => a[name] !== b[name]);
}
