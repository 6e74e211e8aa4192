// Controls that choose: a list, a switch, a row of buttons of which one is on, a slider.
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { Field } from './field.js';

/** One thing to choose. */
export interface Option<Value extends string = string> {
  readonly value: Value;
  readonly label: string;
}

export interface SelectProps<Value extends string> {
  readonly label: string;
  readonly name?: string | undefined;
  readonly value: Value;
  readonly options: readonly Option<Value>[];
  readonly onChange: (value: Value) => void;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  readonly isLabelHidden?: boolean | undefined;
}

/** One of a list. */
export function Select<Value extends string>({ value, options, onChange, ...texts }: SelectProps<Value>) {
  return (
    <Field {...texts}>
      {({ id, describedBy, isInvalid }) => (
        <select
          id={id}
          class="input"
          value={value}
          aria-describedby={describedBy}
          aria-invalid={isInvalid || undefined}
          onChange={(event) => {
            const chosen = options[event.currentTarget.selectedIndex];
            if (chosen) onChange(chosen.value);
          }}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export interface SwitchProps {
  readonly label: string;
  readonly name?: string | undefined;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
}

/** On or off. */
export function Switch({ label, name, isOn, onChange, hint, error }: SwitchProps) {
  const id = useId();
  const described = [hint ? `${id}-hint` : '', error ? `${id}-error` : ''].filter((part) => part !== '').join(' ');
  return (
    <div class="field" data-field={name}>
      <label class="switch" for={id}>
        <input
          id={id}
          type="checkbox"
          checked={isOn}
          aria-describedby={described === '' ? undefined : described}
          aria-invalid={error !== undefined || undefined}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
        <span class="switch-track" aria-hidden="true" />
        <span>{label}</span>
      </label>
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

export interface SegmentedProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly (Option<Value> & { readonly picture?: ComponentChildren })[];
  readonly onChange: (value: Value) => void;
  readonly isLabelHidden?: boolean | undefined;
}

/** One of a few, all of them seen. */
export function Segmented<Value extends string>(props: SegmentedProps<Value>) {
  const { label, value, options, onChange, isLabelHidden = false } = props;
  const name = useId();
  return (
    <fieldset class="segmented-group">
      <legend class={isLabelHidden ? 'visually-hidden' : 'field-label'}>{label}</legend>
      <div class="segmented">
        {options.map((option) => (
          <label key={option.value} class="segment">
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
            />
            <span>
              {option.picture}
              {option.label}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

export interface RangeProps {
  readonly label: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  readonly onInput: (value: number) => void;
  readonly isLabelHidden?: boolean | undefined;
  /** The value in words, for those who hear it. */
  readonly valueText?: string | undefined;
}

/** A slider. */
export function Range({ value, min, max, step, onInput, valueText, ...texts }: RangeProps) {
  return (
    <Field {...texts}>
      {({ id }) => (
        <input
          id={id}
          class="range"
          type="range"
          min={min}
          max={max}
          step={step}
          value={value}
          aria-valuetext={valueText}
          onInput={(event) => onInput(event.currentTarget.valueAsNumber)}
        />
      )}
    </Field>
  );
}
