// Addresses of the page, behind its `#`: which view is shown, and of what.
import { type ReadonlySignal, signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

/** A place in the page. */
export type Route =
  | { readonly name: 'make' }
  | { readonly name: 'job'; readonly id: string }
  | { readonly name: 'compare'; readonly ids: readonly string[] }
  | { readonly name: 'gallery'; readonly query?: Readonly<Record<string, string>> }
  | { readonly name: 'status' }
  | { readonly name: 'unknown' };

/** The route that an address means. */
export function parseRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?');
  const [first = '', ...rest] = path
    .split('/')
    .filter((part) => part !== '')
    .map(decode);
  switch (first) {
    case '':
    case 'make':
      return { name: 'make' };
    case 'jobs':
      return rest[0] === undefined ? { name: 'unknown' } : { name: 'job', id: rest[0] };
    case 'compare':
      return { name: 'compare', ids: rest };
    case 'gallery':
      return { name: 'gallery', query: Object.fromEntries(new URLSearchParams(search)) };
    case 'status':
      return { name: 'status' };
    default:
      return { name: 'unknown' };
  }
}

/** Address of a route, for links. */
export function hrefOf(route: Route): string {
  switch (route.name) {
    case 'make':
    case 'unknown':
      return '#/make';
    case 'job':
      return `#/jobs/${encodeURIComponent(route.id)}`;
    case 'compare':
      return `#/compare/${route.ids.map(encodeURIComponent).join('/')}`;
    case 'gallery': {
      const search = new URLSearchParams(route.query).toString();
      return search === '' ? '#/gallery' : `#/gallery?${search}`;
    }
    case 'status':
      return '#/status';
    default:
      return route satisfies never;
  }
}

/** Goes to a route; `isSame` puts it in the place of the present one in the history. */
export function goTo(route: Route, isSame = false): void {
  if (isSame) location.replace(hrefOf(route));
  else location.hash = hrefOf(route);
}

/** Follows the address of the page. Returns the route as a signal. */
export function followAddress(): ReadonlySignal<Route> {
  const route = signal(parseRoute(location.hash));
  addEventListener('hashchange', () => {
    route.value = parseRoute(location.hash);
  });
  return route;
}

/** The route for the components below. */
export const RouteContext = createContext<ReadonlySignal<Route> | null>(null);

/** The route that is shown. */
export function useRoute(): Route {
  const route = useContext(RouteContext);
  if (route === null) throw new Error('useRoute outside of the app');
  return route.value;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
