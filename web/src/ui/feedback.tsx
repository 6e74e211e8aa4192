// What tells how something goes: bars, notices, frames of a fixed shape, empty places, text to copy.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../texts/t.js';
import { Button } from './button.js';
import { Icon } from './icon.js';

/** A bar from 0 to 1; null while nobody knows. */
export function Progress({ value, label }: { readonly value: number | null; readonly label: string }) {
  return <progress class="progress" aria-label={label} {...(value === null ? {} : { value, max: 1 })} />;
}

/** Something is under way. */
export function Spinner({ label }: { readonly label: string }) {
  return (
    <span class="spinner-row" role="status">
      <span class="spinner" aria-hidden="true" />
      <span class="muted">{label}</span>
    </span>
  );
}

export interface NoticeProps {
  readonly kind: 'info' | 'error' | 'success';
  readonly children?: ComponentChildren;
}

/** A message in the page; errors are told at once. */
export function Notice({ kind, children }: NoticeProps) {
  return (
    <div class={`notice notice-${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
      {kind === 'error' && <Icon name="alert" />}
      <div>{children}</div>
    </div>
  );
}

export interface FrameProps {
  readonly width: number;
  readonly height: number;
  readonly children?: ComponentChildren;
  readonly label?: string | undefined;
}

/** A box of a fixed shape at full width: what arrives in it moves nothing around it. */
export function Frame({ width, height, children, label }: FrameProps) {
  const shape = { aspectRatio: `${width} / ${height}`, '--shape': String(width / height) };
  return (
    <figure class="frame" style={shape} aria-label={label}>
      {children}
    </figure>
  );
}

export interface EmptyStateProps {
  readonly title: string;
  readonly text: string;
  readonly children?: ComponentChildren;
}

/** What stands where nothing is yet. */
export function EmptyState({ title, text, children }: EmptyStateProps) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      <p class="muted">{text}</p>
      {children}
    </div>
  );
}

/** Text to take along. */
export function Copyable({ label, text }: { readonly label: string; readonly text: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <div class="copyable">
      <div class="row">
        <h3>{label}</h3>
        <span class="push" />
        <Button kind="quiet" icon={isCopied ? 'check' : 'copy'} onClick={() => void copy()}>
          {isCopied ? t('copied') : t('copy')}
        </Button>
      </div>
      <pre class="copyable-text mono">{text}</pre>
    </div>
  );
}

/** The clipboard exists on secure pages alone; elsewhere a selection does it. */
async function copyText(text: string): Promise<void> {
  const clipboard: Clipboard | undefined = navigator.clipboard;
  if (clipboard) return clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}
