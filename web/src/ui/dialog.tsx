// Dialogs on the browser's own element: it keeps the focus inside, closes on Escape and gives the focus back.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { t } from '../texts/t.js';
import { Button, IconButton } from './button.js';

export interface DialogProps {
  readonly isOpen: boolean;
  readonly title: string;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
  /** Buttons at the foot. */
  readonly actions?: ComponentChildren;
}

/** A window over the page. */
export function Dialog({ isOpen, title, onClose, children, actions }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [closings, setClosings] = useState(0);
  // Browsers close a dialog on a second Escape whatever the page says: one that must stay is opened again.
  useEffect(() => {
    const element = dialog.current;
    if (element === null || element.open === isOpen) return;
    if (isOpen) element.showModal();
    else element.close();
  }, [isOpen, closings]);
  return (
    <dialog
      class="dialog"
      ref={dialog}
      aria-labelledby={id}
      onClose={() => {
        setClosings((count) => count + 1);
        onClose();
      }}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      {isOpen && (
        <div class="stack">
          <div class="row">
            <h2 id={id}>{title}</h2>
            <span class="push" />
            <IconButton label={t('close')} icon="close" onClick={onClose} />
          </div>
          {children}
          {actions && <div class="row dialog-actions">{actions}</div>}
        </div>
      )}
    </dialog>
  );
}

export interface ConfirmProps {
  readonly isOpen: boolean;
  readonly title: string;
  readonly text: string;
  /** What the button that does it says. */
  readonly action: string;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks before something that cannot be taken back. */
export function Confirm({ isOpen, title, text, action, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog
      isOpen={isOpen}
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button
            kind="danger"
            onClick={() => {
              onConfirm();
              onClose();
            }}
          >
            {action}
          </Button>
        </>
      }
    >
      <p>{text}</p>
    </Dialog>
  );
}
