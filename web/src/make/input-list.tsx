// The inputs on the form: what was dropped, what it is used for, and what is still missing.
import { useRef } from 'preact/hooks';
import { t } from '../texts/t.js';
import { Button, Icon, IconButton, Select } from '../ui/index.js';
import { changeInput, type Draft, type DraftInput, removeInput } from './draft.js';
import { hintNames, isActionTask, missingInput, type Role, rolesOf } from './task-inputs.js';

export interface InputListProps {
  readonly draft: Draft;
  readonly onFiles: (files: readonly File[], role?: Role) => void;
  /** What the server says of the inputs. */
  readonly error: string | undefined;
}

/** The list with its button; dropping works on the whole form. */
export function InputList({ draft, onFiles, error }: InputListProps) {
  const picker = useRef<HTMLInputElement>(null);
  const inputs = draft.inputs.value;
  const used = rolesOf(draft.task.value);
  const missing = missingInput(
    draft.task.value,
    inputs.map(({ role }) => role),
  );
  return (
    <section class="stack-tight" aria-label={t('make.inputs')} data-field="inputs">
      {inputs.length > 0 && (
        <ul class="make-inputs">
          {inputs.map((input) => (
            <InputRow key={input.key} draft={draft} input={input} isUsed={used.includes(input.role)} />
          ))}
        </ul>
      )}
      {error && <p class="field-error">{error}</p>}
      {missing && !error && <p class="make-missing">{t(`make.needs.${missing}`)}</p>}
      <div class="row">
        <Button icon="add" onClick={() => picker.current?.click()}>
          {t('make.addFile')}
        </Button>
      </div>
      <input
        ref={picker}
        class="visually-hidden"
        type="file"
        multiple
        tabIndex={-1}
        aria-label={t('make.addFile')}
        accept="image/*,video/*,.json,.csv"
        onChange={(event) => {
          onFiles([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = '';
        }}
      />
    </section>
  );
}

interface InputRowProps {
  readonly draft: Draft;
  readonly input: DraftInput;
  readonly isUsed: boolean;
}

function InputRow({ draft, input, isUsed }: InputRowProps) {
  const { key, role, name, state, error, kind, url } = input;
  return (
    <li class={`make-input${isUsed ? '' : ' make-input-unused'}`} aria-busy={state === 'sending'}>
      <div class="make-input-picture">
        {kind === 'image' && url && <img src={url} alt="" />}
        {kind === 'video' && url && <video src={url} muted preload="metadata" />}
        {kind === 'rows' && <Icon name="plot" />}
      </div>
      <div class="make-input-words">
        <p class="make-input-name">{name}</p>
        <p class="muted small">{state === 'sending' ? t('make.uploading', { name }) : describe(input)}</p>
        {error && <p class="field-error">{error}</p>}
      </div>
      {kind !== 'rows' && (
        <Select
          label={t('make.role', { name })}
          isLabelHidden
          value={role}
          options={choicesOf(input, draft).map((choice) => ({ value: choice, label: t(`make.role.${choice}`) }))}
          onChange={(next) => changeInput(draft, key, { role: next })}
        />
      )}
      <IconButton label={t('make.removeInput', { name })} icon="close" onClick={() => removeInput(draft, key)} />
    </li>
  );
}

/** A still picture can be a control map as well; a clip cannot be a first picture. */
function choicesOf({ kind, role }: DraftInput, draft: Draft): readonly Role[] {
  const own: Role = kind === 'video' ? 'video' : 'image';
  const maps = isActionTask(draft.task.value) ? [] : hintNames;
  return [...new Set<Role>([own, ...maps, role])];
}

function describe({ kind, width, height, frames, rows }: DraftInput): string {
  if (rows) return t('make.input.actions', { count: rows.length, numbers: rows[0]?.length ?? 0 });
  if (width === null || height === null) return '';
  return kind === 'video' && frames !== null
    ? t('make.input.clip', { width, height, frames })
    : t('make.input.picture', { width, height });
}
