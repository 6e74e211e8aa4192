// Asks for the server's key where it wants one. The key stays in this tab's session.
import { useState } from 'preact/hooks';
import { useStore } from '../store/store-context.js';
import { t } from '../texts/t.js';
import { Button, Dialog, TextField } from '../ui/index.js';

/** Opens by itself when the server asks for a key. */
export function KeyDialog() {
  const { connection, setKey } = useStore();
  const [key, setText] = useState('');
  const [tried, setTried] = useState(false);
  const isOpen = connection.value === 'locked';
  return (
    <Dialog isOpen={isOpen} title={t('key.title')} onClose={() => undefined}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          setTried(true);
          setKey(key.trim());
        }}
      >
        <p>{t('connection.locked')}</p>
        <TextField
          label={t('key.label')}
          type="password"
          value={key}
          onInput={setText}
          hint={t('key.hint')}
          error={tried ? t('key.wrong') : undefined}
        />
        <div class="row dialog-actions">
          <Button kind="primary" type="submit" disabled={key.trim() === ''}>
            {t('key.save')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
