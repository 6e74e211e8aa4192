// Starts the page: opens the store, follows the address, draws.
import { effect } from '@preact/signals';
import { render } from 'preact';
import { App } from './app/app.js';
import { followAddress, goTo, RouteContext } from './app/router.js';
import { createStore } from './store/create-store.js';
import { StoreContext } from './store/store-context.js';
import { pickLanguage } from './texts/t.js';
import './styles/tokens.css';
import './styles/layout.css';
import './ui/ui.css';
import './ui/windows.css';
import './app/app.css';
import { announceJobs } from './watch/announce-jobs.js';

const root = document.documentElement;
root.lang = pickLanguage(navigator.languages);
const store = createStore({
  baseUrl: new URL('.', location.href).href.replace(/\/$/, ''),
  session: sessionStorage,
  local: localStorage,
  showForm: () => goTo({ name: 'make' }),
});
effect(() => {
  const theme = store.settings.theme.value;
  if (theme === 'system') delete root.dataset.theme;
  else root.dataset.theme = theme;
});
// A file that is dropped beside the form would replace the page.
for (const event of ['dragover', 'drop']) addEventListener(event, (dragged) => dragged.preventDefault());
announceJobs(store);
const place = document.getElementById('app');
if (place)
  render(
    <StoreContext.Provider value={store}>
      <RouteContext.Provider value={followAddress()}>
        <App />
      </RouteContext.Provider>
    </StoreContext.Provider>,
    place,
  );
