// The frame around every view: navigation, colours, the state of the line, messages, the question for a key.
import type { ComponentChildren } from 'preact';
import { useStore } from '../store/store-context.js';
import type { Theme } from '../store/types.js';
import { t } from '../texts/t.js';
import { IconButton } from '../ui/index.js';
import { KeyDialog } from './key-dialog.js';
import { hrefOf, type Route, useRoute } from './router.js';
import { ToastList } from './toast-list.js';

const pages: readonly { readonly route: Route; readonly text: 'nav.make' | 'nav.gallery' | 'nav.status' }[] = [
  { route: { name: 'make' }, text: 'nav.make' },
  { route: { name: 'gallery' }, text: 'nav.gallery' },
  { route: { name: 'status' }, text: 'nav.status' },
];

/** The page around a view. */
export function Shell({ children }: { readonly children: ComponentChildren }) {
  const { model, connection } = useStore();
  const route = useRoute();
  return (
    <>
      <button class="skip" type="button" onClick={() => document.getElementById('content')?.focus()}>
        {t('app.skip')}
      </button>
      <header class="bar">
        <div class="bar-content">
          <a class="brand" href={hrefOf({ name: 'make' })}>
            <img src="./icon.svg" alt="" width={28} height={28} />
            <span class="brand-name">{t('app.name')}</span>
          </a>
          <nav class="nav" aria-label={t('app.navigation')}>
            {pages.map((page) => (
              <a
                key={page.text}
                href={hrefOf(page.route)}
                aria-current={page.route.name === route.name ? 'page' : undefined}
              >
                {t(page.text)}
              </a>
            ))}
          </nav>
          <span class="push" />
          <span class="bar-model muted small">{model.value?.id}</span>
          <ThemeButton />
        </div>
      </header>
      <div role="status">{connection.value === 'lost' && <p class="connection">{t('connection.lost')}</p>}</div>
      <main class="page" id="content" tabIndex={-1}>
        {children}
      </main>
      <ToastList />
      <KeyDialog />
    </>
  );
}

const nextTheme: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' };

function ThemeButton() {
  const { theme } = useStore().settings;
  const label = `${t('theme.label')}: ${t(`theme.${theme.value}`)}`;
  return (
    <IconButton
      label={label}
      icon="theme"
      onClick={() => {
        theme.value = nextTheme[theme.value];
      }}
    />
  );
}
