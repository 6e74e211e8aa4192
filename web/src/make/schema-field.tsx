// One parameter as a field, drawn from its schema: list, switch, number or text; its hint is the schema's description.
import { descriptionOf } from '../../../src/protocol/index.js';
import { t, tMaybe } from '../texts/t.js';
import { NumberField, Select, TextField } from '../ui/index.js';
import { controlOf, schemaOf } from './fields.js';

export interface SchemaFieldProps {
  readonly name: string;
  readonly value: string;
  readonly onInput: (text: string) => void;
  readonly error?: string | undefined;
  /** What holds where nothing is typed. */
  readonly fallback?: string | undefined;
  readonly isHintHidden?: boolean | undefined;
}

const longTexts = new Set(['negative_prompt', 'system_prompt', 'action_history']);

/** A field for any parameter that the protocol has. */
export function SchemaField({ name, value, onInput, error, fallback, isHintHidden = false }: SchemaFieldProps) {
  const schema = schemaOf(name);
  if (schema === undefined) return null;
  const control = controlOf(schema);
  const label = tMaybe(`field.${name}`) ?? name;
  const hint = isHintHidden ? undefined : (tMaybe(`hint.${name}`) ?? descriptionOf(schema));
  const shared = { label, name, hint, error, value };
  const nothing = {
    value: '',
    label: fallback === undefined ? t('make.default') : t('make.byDefault', { value: fallback }),
  };
  switch (control.kind) {
    case 'words': {
      const options = [nothing, ...control.words.map((word) => ({ value: word, label: word }))];
      return <Select {...shared} options={options} onChange={onInput} />;
    }
    case 'switch': {
      const options = [nothing, { value: 'true', label: t('make.yes') }, { value: 'false', label: t('make.no') }];
      return <Select {...shared} options={options} onChange={onInput} />;
    }
    case 'number':
      return (
        <NumberField
          {...shared}
          step={control.step}
          min={control.min}
          max={control.max}
          onInput={onInput}
          placeholder={fallback}
          resetLabel={t('make.notDefault')}
        />
      );
    case 'text':
    case 'structure':
      return <TextField {...shared} isMultiline={longTexts.has(name)} onInput={onInput} placeholder={fallback} />;
    default:
      return control satisfies never;
  }
}
