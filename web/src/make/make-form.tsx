// The form of Make: words, task, inputs, size, length, seed, and everything else folded away.
import type { ReadonlySignal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type ModelDetails, traitsOf } from '../../../src/protocol/index.js';
import { goTo } from '../app/router.js';
import { useStore } from '../store/store-context.js';
import { t } from '../texts/t.js';
import { Button, Disclosure, Notice, Select, Switch, TextField } from '../ui/index.js';
import { type Draft, resetDraft, setValue } from './draft.js';
import { errorsByField } from './field-of-error.js';
import { foldedGroups, sentNames } from './fields.js';
import { HintList } from './hint-list.js';
import { InputList } from './input-list.js';
import { LengthField } from './length-field.js';
import { RobotFields } from './robot-fields.js';
import { SchemaField } from './schema-field.js';
import { SeedField } from './seed-field.js';
import { SizeField } from './size-field.js';
import { isHint, isTask, type Role, type Task } from './task-inputs.js';
import type { ReadDraft } from './to-form.js';
import { type LivePlan, type Problem, problemOf } from './use-plan.js';

export interface MakeFormProps {
  readonly draft: Draft;
  readonly model: ModelDetails;
  readonly read: ReadonlySignal<ReadDraft>;
  readonly live: LivePlan;
  /** What the server said to the last attempt. */
  readonly refused: Problem | null;
  readonly onRefused: (problem: Problem | null) => void;
  readonly onFiles: (files: readonly File[], role?: Role) => void;
  /** Wire name of the field to look at. */
  readonly focus: string | undefined;
  readonly onFocused: () => void;
}

/** The form. Ctrl + Enter sends it from anywhere inside. */
export function MakeForm(props: MakeFormProps) {
  const { draft, model, read, live, refused, onRefused, onFiles, focus, onFocused } = props;
  const store = useStore();
  const form = useRef<HTMLFormElement>(null);
  const [isSending, setSending] = useState(false);
  const [isUnfolded, setUnfolded] = useState(false);
  const task = draft.task.value;
  const traits = traitsOf(task);
  const values = draft.values.value;
  const shown = shownNames(task, draft.shape.value);
  const problem = refused ?? (live.problem?.reason === 'missing_parameter' ? null : live.problem);
  const errors = errorsByField(read.value.errors, problem, shown);
  const groups = foldedGroups(task);
  const folded = groups.flatMap(({ names }) => names);
  const changed = folded.filter((name) => (values[name] ?? '').trim() !== '').length;
  const hasFoldedError = folded.some((name) => errors[name] !== undefined);
  const card = model.tasks.find((candidate) => candidate.task === task);

  useEffect(() => {
    if (hasFoldedError) setUnfolded(true);
  }, [hasFoldedError]);
  useEffect(() => {
    if (focus === undefined) return;
    focusField(form.current, focus);
    onFocused();
  }, [focus]);

  const send = async () => {
    if (isSending) return;
    const typed = Object.keys(read.value.errors);
    if (typed[0] !== undefined) return focusField(form.current, typed[0]);
    setSending(true);
    try {
      const job = await store.submit(read.value.form);
      draft.lastSeed.value = job.seed;
      onRefused(null);
      store.toasts.show({
        kind: 'success',
        text: t('make.sent', { prompt: job.prompt.slice(0, 60) }),
        action: { label: t('make.watch'), run: () => goTo({ name: 'job', id: job.id }) },
      });
    } catch (error) {
      const found = problemOf(error);
      onRefused(found);
      // After the message has been drawn: it is read out with the field.
      requestAnimationFrame(() => focusInvalid(form.current));
    } finally {
      setSending(false);
    }
  };
  const type = (name: string) => (text: string) => setValue(draft, name, text);
  const isLost = problem !== null && Object.keys(errors).length === Object.keys(read.value.errors).length;

  return (
    <form
      class="stack make-form"
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        void send();
      }}
    >
      <TextField
        label={t('make.prompt')}
        name="prompt"
        value={values.prompt ?? ''}
        onInput={type('prompt')}
        placeholder={t('make.promptPlaceholder')}
        hint={t('make.promptHint')}
        error={errors.prompt}
        isMultiline
        rows={4}
      />
      <div class="make-pair">
        <Select
          label={t('make.task')}
          name="task"
          value={task}
          options={tasksOf(model).map((name) => ({ value: name, label: t(`task.${name}`) }))}
          hint={t(`taskHint.${task}`)}
          error={errors.task}
          onChange={(next) => {
            draft.task.value = next;
          }}
        />
        {model.sound && traits.takesSound && (
          <Switch
            label={t('field.generate_sound')}
            name="generate_sound"
            isOn={values.generate_sound === 'true'}
            error={errors.generate_sound}
            onChange={(isOn) => setValue(draft, 'generate_sound', isOn ? 'true' : '')}
          />
        )}
      </div>
      <InputList draft={draft} onFiles={onFiles} error={errors.inputs} />
      {traits.reads.some(isHint) && <HintList draft={draft} errors={errors} />}
      {traits.isRobot && <RobotFields draft={draft} model={model} errors={errors} />}
      <SizeField draft={draft} model={model} errors={errors} />
      {traits.makes === 'clip' && (
        <LengthField
          draft={draft}
          errors={errors}
          usual={{ frames: live.plan?.num_frames ?? card?.num_frames ?? 1, fps: live.plan?.fps ?? card?.fps ?? 1 }}
        />
      )}
      <SeedField draft={draft} error={errors.seed} />
      <Disclosure
        isOpen={isUnfolded}
        onToggle={setUnfolded}
        summary={changed > 0 ? t('make.advancedChanged', { count: changed }) : t('make.advanced')}
      >
        {isUnfolded && (
          <div class="stack">
            {groups.map(({ id, names }) => (
              <fieldset key={id} class="make-group">
                <legend>{t(`make.group.${id}`)}</legend>
                {names.map((name) => (
                  <SchemaField
                    key={name}
                    name={name}
                    value={values[name] ?? ''}
                    onInput={type(name)}
                    error={errors[name]}
                    fallback={fallbackOf(name, live, card)}
                  />
                ))}
              </fieldset>
            ))}
          </div>
        )}
      </Disclosure>
      {isLost && problem && (
        <Notice kind="error">
          <strong>{t('make.problem')}</strong>
          <p>{problem.message}</p>
        </Notice>
      )}
      <div class="row make-actions">
        <Button kind="primary" type="submit" isBusy={isSending}>
          {t('make.submit')}
        </Button>
        <kbd class="muted small">{t('make.submitKeys')}</kbd>
        <span class="push" />
        <Button kind="quiet" icon="reset" onClick={() => resetDraft(draft)}>
          {t('make.reset')}
        </Button>
      </div>
    </form>
  );
}

function tasksOf(model: ModelDetails): readonly Task[] {
  return model.tasks.map(({ task }) => task).filter(isTask);
}

/** Fields that the form shows for a task, by wire name. */
function shownNames(task: Task, shape: string): ReadonlySet<string> {
  const sizes = shape === 'own' ? ['width', 'height'] : [];
  return new Set([
    ...sentNames(task),
    ...sizes,
    'task',
    'resolution',
    ...(traitsOf(task).makes === 'clip' ? ['seconds'] : []),
  ]);
}

/** What the server takes where nothing is typed: from the plan, else from the model's description. */
function fallbackOf(
  name: string,
  { plan }: LivePlan,
  card: ModelDetails['tasks'][number] | undefined,
): string | undefined {
  switch (name) {
    case 'num_inference_steps':
    case 'guidance_scale':
    case 'flow_shift': {
      const value = plan?.[name] ?? card?.[name];
      return value === undefined || value === null ? undefined : String(value);
    }
    case 'guidance_interval':
      return card?.guidance_interval?.join(', ');
    default:
      return undefined;
  }
}

function focusField(form: HTMLElement | null, name: string): void {
  const field = form?.querySelector(`[data-field="${CSS.escape(name)}"] :is(input, textarea, select, button)`);
  if (field instanceof HTMLElement) field.focus();
}

function focusInvalid(form: HTMLElement | null): void {
  const field = form?.querySelector(':is(input, textarea, select)[aria-invalid="true"]');
  if (field instanceof HTMLElement) field.focus();
}
