// Fields of forms: a label, the control, what it is for, and what is wrong with it, tied together for every reader.
import type { ComponentChildren, InputHTMLAttributes, VNode } from 'preact';
import { useId } from 'preact/hooks';
import { IconButton } from './button.js';

/** What a control needs to be tied to its label and its messages. */
export interface FieldIds {
  readonly id: string;
  /** Value of aria-describedby. */
  readonly describedBy: string | undefined;
  readonly isInvalid: boolean;
}

interface FieldTexts {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** What is wrong with the value, in the words of whoever found it. */
  readonly error?: string | undefined;
  readonly isLabelHidden?: boolean | undefined;
}

export interface FieldProps extends FieldTexts {
  /** Wire name, for whoever looks for the field of an error. */
  readonly name?: string | undefined;
  readonly children: (ids: FieldIds) => VNode;
}

/** The frame of a field around any control. */
export function Field({ label, hint, error, isLabelHidden = false, name, children }: FieldProps) {
  const id = useId();
  const described = [hint ? `${id}-hint` : '', error ? `${id}-error` : ''].filter((part) => part !== '').join(' ');
  return (
    <div class={`field${error ? ' field-invalid' : ''}`} data-field={name}>
      <label class={isLabelHidden ? 'visually-hidden' : 'field-label'} for={id}>
        {label}
      </label>
      {children({ id, describedBy: described === '' ? undefined : described, isInvalid: error !== undefined })}
      {error && (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
      {hint && (
        <p class="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

export interface TextFieldProps extends FieldTexts {
  readonly name?: string | undefined;
  readonly value: string;
  readonly onInput: (text: string) => void;
  readonly placeholder?: string | undefined;
  readonly type?: 'text' | 'search' | 'password' | 'date' | undefined;
  readonly isMultiline?: boolean | undefined;
  readonly rows?: number | undefined;
  readonly inputRef?: ((element: HTMLElement | null) => void) | undefined;
}

/** One line of text, or several. */
export function TextField(props: TextFieldProps) {
  const { value, onInput, placeholder, type = 'text', isMultiline = false, rows = 3, inputRef, ...texts } = props;
  return (
    <Field {...texts}>
      {({ id, describedBy, isInvalid }) => {
        const shared = {
          id,
          class: 'input',
          value,
          placeholder,
          'aria-describedby': describedBy,
          'aria-invalid': isInvalid || undefined,
          ...(inputRef ? { ref: inputRef } : {}),
        };
        return isMultiline ? (
          <textarea {...shared} rows={rows} onInput={(event) => onInput(event.currentTarget.value)} />
        ) : (
          inputOf(type, { ...shared, onInput: (event) => onInput(event.currentTarget.value) })
        );
      }}
    </Field>
  );
}

type TextInput = Pick<
  InputHTMLAttributes<HTMLInputElement>,
  'id' | 'class' | 'value' | 'placeholder' | 'aria-describedby' | 'aria-invalid' | 'onInput'
>;

/** The types of inputs differ in what they may be: one element for each. */
function inputOf(type: NonNullable<TextFieldProps['type']>, given: TextInput): VNode {
  switch (type) {
    case 'search':
      return <input {...given} type="search" autocomplete="off" />;
    case 'password':
      return <input {...given} type="password" autocomplete="off" />;
    case 'date':
      return <input {...given} type="date" />;
    case 'text':
      return <input {...given} type="text" autocomplete="off" />;
    default:
      return type satisfies never;
  }
}

export interface NumberFieldProps extends FieldTexts {
  readonly name?: string | undefined;
  /** As typed: what is no number stays visible, and is told to be wrong. */
  readonly value: string;
  readonly onInput: (text: string) => void;
  readonly step?: number | undefined;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly unit?: string | undefined;
  readonly placeholder?: string | undefined;
  /** Given, there is a button that empties the field. */
  readonly resetLabel?: string | undefined;
}

/** A number as text, that the arrow keys count up and down. */
export function NumberField(props: NumberFieldProps) {
  const { value, onInput, step = 1, min, max, unit, placeholder, resetLabel, ...texts } = props;
  const count = (by: number) => {
    const start = Number(value === '' ? (placeholder ?? 0) : value);
    if (Number.isFinite(start)) onInput(String(clamp(roundTo(start + by, step), min, max)));
  };
  return (
    <Field {...texts}>
      {({ id, describedBy, isInvalid }) => (
        <div class="number">
          <input
            id={id}
            class="input"
            type="text"
            inputMode={step < 1 || (min ?? 0) < 0 ? 'text' : 'decimal'}
            autocomplete="off"
            value={value}
            placeholder={placeholder}
            aria-describedby={describedBy}
            aria-invalid={isInvalid || undefined}
            onInput={(event) => onInput(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return;
              event.preventDefault();
              count((event.key === 'ArrowUp' ? step : -step) * (event.shiftKey ? 10 : 1));
            }}
          />
          {unit && <span class="number-unit">{unit}</span>}
          {resetLabel && value !== '' && <IconButton label={resetLabel} icon="reset" onClick={() => onInput('')} />}
        </div>
      )}
    </Field>
  );
}

function roundTo(value: number, step: number): number {
  const digits = step >= 1 ? 0 : Math.ceil(-Math.log10(step));
  return Number(value.toFixed(digits));
}

function clamp(value: number, min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY): number {
  return Math.min(max, Math.max(min, value));
}
