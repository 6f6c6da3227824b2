import { computed, signal } from '@preact/signals';

/** The views, in the order of the navigation; a line is drawn where the group changes. */
export const VIEWS = {
  inbox: 'work',
  next: 'work',
  board: 'work',
  runs: 'work',
  tasks: 'work',
  proof: 'work',
  handover: 'work',
  catalogue: 'known',
  memory: 'known',
  failures: 'known',
  sources: 'known',
  health: 'server',
} as const;

export type View = keyof typeof VIEWS;

export interface Route {
  view: View | 'item' | 'unknown';
  /** What follows the view, such as the name of an item. */
  rest: readonly string[];
  query: URLSearchParams;
}

function isView(word: string): word is View | 'item' {
  return word === 'item' || Object.hasOwn(VIEWS, word);
}

/** An address that somebody has shortened or mistyped is a place of its own, not an exception. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function routeOf(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [view = '', ...rest] = path.split('/').map(decoded);
  return {
    view: view === '' ? 'inbox' : isView(view) ? view : 'unknown',
    rest,
    query: new URLSearchParams(query),
  };
}

export const route = signal(routeOf(location.hash));

/** The project that the address names; without it, the one that the server has. */
export const project = computed(() => route.value.query.get('project') ?? undefined);

export function listenToAddress(): void {
  addEventListener('hashchange', () => {
    route.value = routeOf(location.hash);
  });
}

export function address(
  view: View | 'item',
  rest: readonly string[] = [],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries({ project: project.value, ...query }))
    if (value !== undefined && value !== '') words.set(name, value);
  const path = [view, ...rest.map(encodeURIComponent)].join('/');
  return `#/${path}${words.size === 0 ? '' : `?${words.toString()}`}`;
}

/** Puts what was typed or chosen into the address, without a step in the history for each letter. */
export function refine(query: Readonly<Record<string, string | undefined>>): void {
  const { view, rest, query: old } = route.value;
  if (view === 'unknown') return;
  const merged = { ...Object.fromEntries(old), ...query };
  history.replaceState(null, '', address(view, rest, merged));
  route.value = routeOf(location.hash);
}

export function go(to: string): void {
  location.hash = to;
}
