import { computed, signal } from '@preact/signals';

/** The views, in the order of the navigation. */
export const VIEWS = ['inbox', 'now', 'board', 'memory', 'proof', 'catalogue', 'health'] as const;

export type View = (typeof VIEWS)[number];
/** Views, and places that the navigation does not list. */
export type Place = View | 'item' | 'more';

export interface Route {
  view: Place | 'unknown';
  /** What follows the view, such as the name of an item. */
  rest: readonly string[];
  query: URLSearchParams;
}

/** Views of earlier versions, and where their content is now: somebody has kept the address. */
export const MOVED: Readonly<Partial<Record<string, readonly [Place, ...string[]]>>> = {
  next: ['now'],
  runs: ['now', 'runs'],
  tasks: ['now', 'tasks'],
  handover: ['proof', 'handover'],
  failures: ['memory', 'failures'],
  sources: ['catalogue', 'sources'],
  audit: ['health', 'audit'],
};

const isPlace = (word: string): word is Place =>
  word === 'item' || word === 'more' || VIEWS.some((view) => view === word);

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
  const [first = '', ...others] = path.split('/').map(decoded);
  const [view, ...rest] = [...(MOVED[first] ?? [first]), ...others];
  return {
    view: view === undefined || view === '' ? 'inbox' : isPlace(view) ? view : 'unknown',
    rest,
    query: new URLSearchParams(query),
  };
}

export const route = signal(routeOf(location.hash));

/** What follows the question mark, by its name. */
export const queried = (name: string): string => route.value.query.get(name) ?? '';

/** The project that the server runs for. */
export const home = signal<string | undefined>(undefined);

/** The project that the address names; without it, the one that the server has. */
export const project = computed(() => route.value.query.get('project') ?? home.value);

/** The project of a call: the one that is looked at, where it is not another. */
export const here = (root = project.value): { project?: string } =>
  root === undefined ? {} : { project: root };

export function listenToAddress(): void {
  const arrived = (): void => {
    route.value = routeOf(location.hash);
    const [first = ''] = location.hash.replace(/^#\/?/, '').split(/[/?]/, 1);
    if (MOVED[first] !== undefined) refine({});
  };
  arrived();
  addEventListener('hashchange', arrived);
}

export function address(
  view: Place,
  rest: readonly string[] = [],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...query, project: query['project'] ?? project.value }))
    if (value !== undefined && value !== '') words.set(name, value);
  const path = [view, ...rest.map(encodeURIComponent)].join('/');
  return `#/${path}${words.size === 0 ? '' : `?${words.toString()}`}`;
}

/** Puts what was typed or chosen into the address, as a link has just left it, with no step in the history for each letter. */
export function refine(query: Readonly<Record<string, string | undefined>>): void {
  const { view, rest, query: old } = routeOf(location.hash);
  if (view === 'unknown') return;
  const merged = { ...Object.fromEntries(old), ...query };
  history.replaceState(null, '', address(view, rest, merged));
  route.value = routeOf(location.hash);
}

export function go(to: string): void {
  location.hash = to;
}
