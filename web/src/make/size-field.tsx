// Size as a shape and a tier of detail, with the pixels that come of it; or typed.
import type { ModelDetails } from '../../../src/protocol/index.js';
import { t } from '../texts/t.js';
import { NumberField, Segmented, Select } from '../ui/index.js';
import { type Draft, setValue } from './draft.js';
import { shapesOf } from './sizes.js';
import { chosenSize, isBucketed } from './to-form.js';

export interface SizeFieldProps {
  readonly draft: Draft;
  readonly model: ModelDetails;
  readonly errors: Readonly<Record<string, string>>;
}

/** The size of the result. Tasks whose canvas follows the input choose the detail alone. */
export function SizeField({ draft, model, errors }: SizeFieldProps) {
  const isOwn = draft.shape.value === 'own';
  const error = errors.size ?? errors.resolution;
  if (isBucketed(draft.task.value)) {
    const options = [
      { value: '', label: t('make.shape.auto') },
      ...Object.entries(model.resolutions).map(([tier, sizes]) => ({
        value: tier,
        label: t('make.tierOption', { tier, size: sizes[0] ?? '' }),
      })),
    ];
    return (
      <Select
        label={t('make.tier')}
        name="resolution"
        value={draft.tier.value}
        options={options}
        error={error}
        onChange={(tier) => {
          draft.tier.value = tier;
        }}
      />
    );
  }
  const shapes = shapesOf(model.resolutions);
  const shape = shapes.find(({ label }) => label === draft.shape.value);
  const size = chosenSize(draft, model);
  return (
    <div class="stack-tight" data-field="size">
      <Segmented
        label={t('make.shape')}
        value={draft.shape.value}
        options={[
          { value: 'auto', label: t('make.shape.auto') },
          ...shapes.map(({ label }) => ({ value: label, label, picture: <ShapePicture label={label} /> })),
          { value: 'own', label: t('make.shape.own') },
        ]}
        onChange={(label) => {
          draft.shape.value = label;
          draft.tier.value = '';
        }}
      />
      {shape && size && (
        <Select
          label={t('make.tier')}
          value={size.tier}
          options={shape.sizes.map(({ tier, width, height }) => ({
            value: tier,
            label: t('make.tierOption', { tier, size: t('unit.pixels', { width, height }) }),
          }))}
          onChange={(tier) => {
            draft.tier.value = tier;
          }}
        />
      )}
      {isOwn && <OwnSize draft={draft} model={model} errors={errors} />}
      {error && <p class="field-error">{error}</p>}
    </div>
  );
}

function OwnSize({ draft, model, errors }: SizeFieldProps) {
  const usual = model.tasks.find(({ task }) => task === draft.task.value);
  return (
    <div class="make-pair">
      {(['width', 'height'] as const).map((name) => (
        <NumberField
          key={name}
          label={t(`make.${name}`)}
          name={name}
          unit="px"
          step={model.limits.size_multiple}
          min={model.limits.size_multiple}
          value={draft.values.value[name] ?? ''}
          placeholder={usual ? String(usual[name]) : undefined}
          error={errors[name]}
          onInput={(text) => setValue(draft, name, text)}
        />
      ))}
    </div>
  );
}

function ShapePicture({ label }: { readonly label: string }) {
  const [width = 1, height = 1] = label.split(':').map(Number);
  const scale = 14 / Math.max(width, height);
  return (
    <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true" focusable="false">
      <rect
        x={9 - (width * scale) / 2}
        y={9 - (height * scale) / 2}
        width={width * scale}
        height={height * scale}
        rx="1.5"
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
      />
    </svg>
  );
}
