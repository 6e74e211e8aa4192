// Which layers leave the GPU between uses, from flags and from the JSON form of the original interface.
import type { Tower } from '../../models/cosmos3-transformer/index.js';
import { RequestError, showValue } from '../../protocol/index.js';

/** The two ways in which flags ask for it. */
export interface OffloadWords {
  /** The layers of both towers. */
  readonly layerwise?: boolean | undefined;
  /** Those of the text tower alone. */
  readonly releaseText?: boolean | undefined;
}

/** Reads the words; undefined where all layers stay. The wider of the two wins. */
export function readOffload({ layerwise = false, releaseText = false }: OffloadWords): readonly Tower[] | undefined {
  if (layerwise) return ['und', 'gen'];
  return releaseText ? ['und'] : undefined;
}

/**
 * Reads the JSON form, `{"mode": "layer", "components": ["dit"]}`. Components: `dit`, the layers of both towers, and `text_encoder`,
 * the text tower's. In mode `module` halves of the model take turns, of which only the text tower is ever idle while memory is short.
 * @throws RequestError for keys and values that this program does not have
 */
export function readOffloadConfig(config: Readonly<Record<string, unknown>>): readonly Tower[] | undefined {
  const refuse = (message: string): never => {
    throw new RequestError('unsupported', 'diffusion_offload_config', `--diffusion-offload-config: ${message}`);
  };
  const { mode, components, layer_options: options = {}, ...rest } = config;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) refuse(`${unknown} is not known; there are mode, components and layer_options`);
  if (mode !== 'layer' && mode !== 'module') refuse(`mode must be layer or module, got ${showValue(mode)}`);
  if (!Array.isArray(components)) return refuse(`components must be a list, got ${showValue(components)}`);
  const names = components.map(String);
  const wrong = names.find((name) => name !== 'dit' && name !== 'text_encoder');
  if (wrong === 'vae') refuse('the autoencoder stays on the device; --vae-use-tiling makes it need less memory');
  if (wrong !== undefined) refuse(`components are dit and text_encoder, got ${wrong}`);
  checkLayerOptions(options, refuse);
  if (mode === 'module') {
    if (!names.includes('text_encoder') && names.length > 0)
      refuse('in mode module only text_encoder is ever idle; name it, or give mode layer');
    return readOffload({ releaseText: names.length > 0 });
  }
  return readOffload({ layerwise: names.includes('dit'), releaseText: names.includes('text_encoder') });
}

function checkLayerOptions(options: unknown, refuse: (message: string) => never): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    refuse(`layer_options must be an object, got ${showValue(options)}`);
    return;
  }
  for (const [component, settings] of Object.entries(options))
    for (const [key, value] of Object.entries(typeof settings === 'object' && settings !== null ? settings : {})) {
      if (key === 'weight_transfer' && value === 'rank-local') continue;
      if (key === 'resident_layers' && value === 0) continue;
      refuse(`layer_options.${component}.${key} ${showValue(value)}: layers come whole, from this host, none stays`);
    }
}
