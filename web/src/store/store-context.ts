// The store for the components below.
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Store } from './types.js';

export const StoreContext = createContext<Store | null>(null);

/** The store of the page. */
export function useStore(): Store {
  const store = useContext(StoreContext);
  if (store === null) throw new Error('useStore outside of the app');
  return store;
}
