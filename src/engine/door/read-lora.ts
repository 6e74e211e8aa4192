// An adapter as flags say it.
import { RequestError, showValue } from '../../protocol/index.js';

/** An adapter that is merged into the transformer's weights as they are read. */
export interface LoraOptions {
  /** A .safetensors file, or a folder that holds one. */
  readonly path: string;
  /** Its strength: 1 as trained, and where absent. */
  readonly scale?: number | undefined;
}

/** The same, every question answered. */
export interface MergedAdapter {
  readonly path: string;
  readonly scale: number;
}

/** The two flags. */
export interface LoraWords {
  readonly path?: string | undefined;
  /** A number, or its text. */
  readonly scale?: string | number | undefined;
}

/** Reads the flags; undefined where there is no adapter. @throws RequestError for a scale that is no number, or has no adapter */
export function readLora({ path, scale }: LoraWords): MergedAdapter | undefined {
  if (path === undefined) {
    if (scale === undefined) return undefined;
    throw new RequestError(
      'missing_parameter',
      'lora_path',
      '--lora-scale says nothing without an adapter; add --lora-path',
    );
  }
  const value = typeof scale === 'string' && scale.trim() !== '' ? Number(scale) : (scale ?? 1);
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw new RequestError('invalid_value', 'lora_scale', `--lora-scale must be a number, got ${showValue(scale)}`);
  return { path, scale: value };
}
