// What a controlled clip follows: each hint on or off, made from the clip or given as a map, with its weight and strength.
import { descriptionOf, hintParams } from '../../../src/protocol/index.js';
import { t } from '../texts/t.js';
import { NumberField, Select, Switch } from '../ui/index.js';
import { type Draft, hintIn, setHint } from './draft.js';
import { limitsOf, presetOf, weightOf } from './fields.js';
import { type HintName, hintNames } from './task-inputs.js';

export interface HintListProps {
  readonly draft: Draft;
  readonly errors: Readonly<Record<string, string>>;
}

/** The hints of a transfer. */
export function HintList({ draft, errors }: HintListProps) {
  return (
    <fieldset class="make-hints">
      <legend class="field-label">{t('make.controls')}</legend>
      {hintNames.map((name) => (
        <HintRow key={name} draft={draft} name={name} error={errors[name]} />
      ))}
    </fieldset>
  );
}

function HintRow({
  draft,
  name,
  error,
}: {
  readonly draft: Draft;
  readonly name: HintName;
  readonly error: string | undefined;
}) {
  const { isOn, weight, preset } = hintIn(draft, name);
  const strength = presetOf(name);
  const map = draft.inputs.value.find(({ role }) => role === name);
  const label = t(`make.role.${name}`);
  const source = map?.name ?? (strength ? t('make.control.computed') : t('make.control.needsMap'));
  return (
    <div class="make-hint">
      <Switch
        label={label}
        name={name}
        isOn={isOn}
        error={error}
        hint={isOn ? source : descriptionOf(hintParams[name])}
        onChange={(next) => setHint(draft, name, { isOn: next })}
      />
      {isOn && (
        <div class="make-pair">
          <NumberField
            label={t('make.control.weight', { name: label })}
            {...limitsOf(weightOf(name)?.schema)}
            step={0.1}
            value={weight}
            placeholder={t('make.default')}
            onInput={(text) => setHint(draft, name, { weight: text })}
          />
          {strength && !map && (
            <Select
              label={t('make.control.preset', { name: label })}
              value={preset}
              options={[
                { value: '', label: t('make.default') },
                ...strength.words.map((word) => ({ value: word, label: word })),
              ]}
              onChange={(next) => setHint(draft, name, { preset: next })}
            />
          )}
        </div>
      )}
    </div>
  );
}
