// A view whose code is fetched when it is first shown.
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { t } from '../texts/t.js';
import { Button, Notice, Spinner } from '../ui/index.js';

/** Fetches a view. The browser keeps what was fetched. */
export type LoadView<Props> = () => Promise<ComponentType<Props>>;

export interface LazyViewProps<Props> {
  readonly load: LoadView<Props>;
  readonly props: Props;
}

/** Shows a view as soon as it is there. `load` must be the same function each time. */
export function LazyView<Props extends object>({ load, props }: LazyViewProps<Props>) {
  const [view, setView] = useState<{ readonly View: ComponentType<Props> } | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let isWanted = true;
    setView(null);
    setError(null);
    load().then(
      (View) => isWanted && setView({ View }),
      (reason: unknown) => isWanted && setError(String(reason)),
    );
    return () => {
      isWanted = false;
    };
  }, [load, tries]);
  if (error !== null)
    return (
      <Notice kind="error">
        <p>{t('app.broken', { message: error })}</p>
        <Button onClick={() => setTries(tries + 1)}>{t('app.retry')}</Button>
      </Notice>
    );
  return view === null ? <Spinner label={t('app.loading')} /> : <view.View {...props} />;
}
