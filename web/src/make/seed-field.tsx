// The seed: drawn each time, or kept.
import { batch } from '@preact/signals';
import { descriptionOf } from '../../../src/protocol/index.js';
import { t } from '../texts/t.js';
import { IconButton, NumberField } from '../ui/index.js';
import { type Draft, setValue } from './draft.js';
import { schemaOf } from './fields.js';

export interface SeedFieldProps {
  readonly draft: Draft;
  readonly error: string | undefined;
}

/** A seed with its lock. Locking an empty field keeps the seed of the last result. */
export function SeedField({ draft, error }: SeedFieldProps) {
  const { keepsSeed, lastSeed } = draft;
  const schema = schemaOf('seed');
  const keep = (isKept: boolean) =>
    batch(() => {
      keepsSeed.value = isKept;
      const drawn = lastSeed.value ?? crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
      if (!isKept) setValue(draft, 'seed', '');
      else if (!draft.values.value.seed) setValue(draft, 'seed', String(drawn));
    });
  const hint =
    lastSeed.value !== null && !keepsSeed.value
      ? t('make.seedLast', { seed: String(lastSeed.value) })
      : schema && descriptionOf(schema);
  return (
    <div class="make-seed">
      <NumberField
        label={t('make.seed')}
        name="seed"
        value={draft.values.value.seed ?? ''}
        placeholder={t('make.seedDrawn')}
        hint={hint}
        error={error}
        onInput={(text) => {
          setValue(draft, 'seed', text);
          keepsSeed.value = text.trim() !== '';
        }}
      />
      <IconButton
        label={keepsSeed.value ? t('make.seedUnlock') : t('make.seedLock')}
        icon={keepsSeed.value ? 'lock' : 'unlock'}
        isPressed={keepsSeed.value}
        onClick={() => keep(!keepsSeed.value)}
      />
    </div>
  );
}
