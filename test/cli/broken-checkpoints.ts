// Checkpoints that are broken in one place each.
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../architecture/source-tree.js';

const whole = join(root, 'test/golden/data/tiny-nano');
const weights = 'transformer/diffusion_pytorch_model.safetensors';

interface Entry {
  readonly dtype: string;
  shape: number[];
  readonly data_offsets: readonly [number, number];
}

/** Ways to break a checkpoint. */
export const damages = {
  missingTensor: (folder: string) =>
    editHeader(join(folder, weights), (header) => {
      header['norm_moe_gen.other'] = find(header, 'norm_moe_gen.weight');
      delete header['norm_moe_gen.weight'];
    }),
  misshapedTensor: (folder: string) =>
    editHeader(join(folder, weights), (header) => {
      const entry = find(header, 'norm_moe_gen.weight');
      entry.shape = [entry.shape[0] ?? 0, 1];
    }),
  truncatedTensor: (folder: string) => truncateSync(join(folder, weights), 1_000_000),
  absentShard: (folder: string) => {
    const part = join(folder, 'transformer');
    renameSync(join(folder, weights), join(part, 'model-00001-of-00002.safetensors'));
    const index = { weight_map: { a: 'model-00001-of-00002.safetensors', b: 'model-00002-of-00002.safetensors' } };
    writeFileSync(join(part, 'diffusion_pytorch_model.safetensors.index.json'), JSON.stringify(index));
  },
  contradictingConfig: (folder: string) => {
    const file = join(folder, 'transformer/config.json');
    const config: Record<string, unknown> = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...config, num_key_value_heads: 3 }));
  },
  absentPart: (folder: string) => rmSync(join(folder, 'vae'), { recursive: true }),
} as const;

/** Copies the tiny checkpoint to `folder` and breaks the copy. */
export function makeBroken(folder: string, damage: keyof typeof damages): string {
  mkdirSync(folder, { recursive: true });
  cpSync(whole, folder, { recursive: true });
  damages[damage](folder);
  return folder;
}

function editHeader(file: string, edit: (header: Record<string, Entry>) => unknown): void {
  const bytes = readFileSync(file);
  const length = Number(bytes.readBigUInt64LE(0));
  const header: Record<string, Entry> = JSON.parse(bytes.subarray(8, 8 + length).toString());
  edit(header);
  const text = Buffer.from(JSON.stringify(header));
  // Offsets count from the header's end, so that its length may change.
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(text.length));
  writeFileSync(file, Buffer.concat([size, text, bytes.subarray(8 + length)]));
}

function find(header: Readonly<Record<string, Entry>>, name: string): Entry {
  const entry = header[name];
  if (entry === undefined) throw new Error(`the fixture has no ${name}`);
  return entry;
}
