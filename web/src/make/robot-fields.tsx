// Which robot the actions are of: the embodiments that the model lists, and how many numbers an action has.
import { batch } from '@preact/signals';
import { descriptionOf, type ModelDetails } from '../../../src/protocol/index.js';
import { t } from '../texts/t.js';
import { Select } from '../ui/index.js';
import { type Draft, setValue } from './draft.js';
import { schemaOf } from './fields.js';
import { SchemaField } from './schema-field.js';
import { rolesOf } from './task-inputs.js';

export interface RobotFieldsProps {
  readonly draft: Draft;
  readonly model: ModelDetails;
  readonly errors: Readonly<Record<string, string>>;
}

/** Robot and width of its actions. Choosing a robot fills in its usual width. */
export function RobotFields({ draft, model, errors }: RobotFieldsProps) {
  const domains = model.actions?.domains ?? [];
  const values = draft.values.value;
  const schema = schemaOf('domain_name');
  const choose = (name: string) =>
    batch(() => {
      setValue(draft, 'domain_name', name);
      const [usual] = domains.find(({ names }) => names[0] === name)?.raw_dims ?? [];
      setValue(draft, 'raw_action_dim', usual === undefined ? '' : String(usual));
    });
  const known = domains.flatMap(({ names }) => names[0] ?? []);
  const chosen = values.domain_name ?? '';
  const options = [...new Set(['', ...known, chosen])].map((name) => ({
    value: name,
    label: name || t('make.default'),
  }));
  return (
    <div class="make-pair">
      <Select
        label={t('field.domain_name')}
        name="domain_name"
        value={chosen}
        options={options}
        hint={schema && descriptionOf(schema)}
        error={errors.domain_name}
        onChange={choose}
      />
      {!rolesOf(draft.task.value).includes('action') && (
        <SchemaField
          name="raw_action_dim"
          value={values.raw_action_dim ?? ''}
          error={errors.raw_action_dim}
          onInput={(text) => setValue(draft, 'raw_action_dim', text)}
        />
      )}
    </div>
  );
}
