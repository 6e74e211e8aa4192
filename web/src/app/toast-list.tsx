// Messages at the edge of the page, told to those who cannot see them too.
import { useStore } from '../store/store-context.js';
import { t } from '../texts/t.js';
import { Button, IconButton } from '../ui/index.js';

/** The messages that are shown now. */
export function ToastList() {
  const { toasts } = useStore();
  return (
    <div class="toasts" role="log" aria-live="polite">
      {toasts.shown.value.map(({ id, kind, text, action }) => (
        <div key={id} class={`toast toast-${kind}`}>
          <p>{text}</p>
          {action && (
            <Button
              kind="quiet"
              onClick={() => {
                action.run();
                toasts.dismiss(id);
              }}
            >
              {action.label}
            </Button>
          )}
          <IconButton label={t('dismiss')} icon="close" onClick={() => toasts.dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
