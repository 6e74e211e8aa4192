// Buttons, and links that look like them.
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.js';

export type ButtonKind = 'primary' | 'plain' | 'quiet' | 'danger';

type Attributes = Omit<ButtonHTMLAttributes, 'icon' | 'label' | 'type'> & {
  readonly type?: 'button' | 'submit' | undefined;
};

export type ButtonProps = Attributes & {
  readonly kind?: ButtonKind | undefined;
  /** Work is under way: it stays in the order of tabs, and does nothing. */
  readonly isBusy?: boolean | undefined;
  readonly icon?: IconName | undefined;
  readonly children?: ComponentChildren;
};

/** A button with words. */
export function Button({ kind = 'plain', isBusy = false, icon, children, type = 'button', ...rest }: ButtonProps) {
  const { onClick, ...attributes } = rest;
  return (
    <button
      {...attributes}
      type={type}
      class={`button button-${kind}${rest.class ? ` ${rest.class}` : ''}`}
      aria-disabled={isBusy || undefined}
      aria-busy={isBusy || undefined}
      onClick={isBusy ? (event) => event.preventDefault() : onClick}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

export type IconButtonProps = Attributes & {
  /** What it does, for those who do not see the icon; shown as tip too. */
  readonly label: string;
  readonly icon: IconName;
  /** For a button that stays pressed. */
  readonly isPressed?: boolean | undefined;
};

/** A button with an icon alone. */
export function IconButton({ label, icon, isPressed, type = 'button', ...rest }: IconButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      class={`icon-button${rest.class ? ` ${rest.class}` : ''}`}
      aria-label={label}
      title={label}
      aria-pressed={isPressed}
    >
      <Icon name={icon} isFilled={isPressed === true && icon === 'star'} />
    </button>
  );
}

export interface LinkButtonProps {
  readonly href: string;
  readonly kind?: ButtonKind | undefined;
  readonly icon?: IconName | undefined;
  /** Name of the file that it downloads. */
  readonly download?: string | undefined;
  readonly children?: ComponentChildren;
}

/** A link that looks like a button. */
export function LinkButton({ href, kind = 'plain', icon, download, children }: LinkButtonProps) {
  return (
    <a class={`button button-${kind}`} href={href} download={download}>
      {icon && <Icon name={icon} />}
      {children}
    </a>
  );
}
