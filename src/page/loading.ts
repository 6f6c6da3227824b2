import { useEffect, useRef, useState } from 'preact/hooks';
import { ask, Problem, readInbox, saidOf, type Args } from './api.ts';
import type { Answers, Inbox, Topic } from './answers.ts';
import { changes } from './live.ts';
import { language, t } from './message.ts';
import { bareName } from './parts/wording.ts';
import { project } from './router.ts';

export interface Loaded<T> {
  data: T | undefined;
  problem: Problem | undefined;
  reload: () => void;
}

/** What is being read, or was a moment ago: parts of the page that ask the same at once are answered once. */
const flying = new Map<string, Promise<unknown>>();
const SHARED_MS = 1_000;
let reloads = 0;

function shared<T>(key: string, read: () => Promise<T>): Promise<T> {
  const known = flying.get(key) as Promise<T> | undefined;
  if (known !== undefined) return known;
  const reading = read();
  flying.set(key, reading);
  const later = (): void => void setTimeout(() => flying.delete(key), SHARED_MS);
  reading.then(later, () => flying.delete(key));
  return reading;
}

/** Reads something when the view opens, when its question changes, and when one of its topics has changed. */
function useLoaded<T>(
  key: string,
  read: (() => Promise<T>) | undefined,
  topics: readonly Topic[],
): Loaded<T> {
  const [state, setState] = useState<{ key: string; data?: T; problem?: Problem }>({ key });
  const [asked, setAsked] = useState(0);
  const reading = useRef(read);
  reading.current = read;
  const counted = changes.value;
  // What the server says, it says in the language that is shown.
  const version = [
    language.value,
    asked,
    counted.all ?? 0,
    ...topics.map((topic) => counted[topic] ?? 0),
  ].join(' ');
  useEffect(() => {
    const { current } = reading;
    if (current === undefined) return undefined;
    let over = false;
    shared(`${key} ${version}`, current)
      .then((data) => (over ? undefined : setState({ key, data })))
      .catch((error: unknown) => {
        if (over) return;
        const problem = error instanceof Problem ? error : new Problem(String(error), 0);
        // What was shown stays, with the problem above it.
        setState((old) => (old.key === key ? { ...old, problem } : { key, problem }));
      });
    return () => {
      over = true;
    };
  }, [key, version]);
  const same = state.key === key;
  return {
    data: same ? state.data : undefined,
    problem: same ? state.problem : undefined,
    reload: () => setAsked((reloads += 1)),
  };
}

/** The answer of an operation for the project that is looked at; nothing is asked without arguments. */
export function useAnswer<K extends keyof Answers>(
  operation: K,
  args: Args | undefined,
  topics: readonly Topic[],
): Loaded<Answers[K]> {
  const where = project.value;
  const all = where === undefined || NO_PROJECT.has(operation) ? args : args && { ...args, project: where };
  return useLoaded(
    `${operation} ${JSON.stringify(all)}`,
    all === undefined ? undefined : () => ask(operation, all),
    topics,
  );
}

/** How far the project is, with everything it is made of. */
export const useNext = (): Loaded<Answers['next']> =>
  useAnswer('next', { detail: 'full' }, ['progress', 'content', 'runs', 'receipts', 'programs']);

/** Operations that are about the machine, or take the project from elsewhere. */
const NO_PROJECT = new Set<string>([
  'list_prompts',
  'sources_list',
  'sources_diff',
  'hosts_show',
  'audit_show',
]);

const OF_INBOX: readonly Topic[] = [
  'tasks',
  'sources',
  'progress',
  'receipts',
  'runs',
  'handover',
  'content',
  'programs',
  'memory',
];

export function useInbox(): Loaded<Inbox> {
  const where = project.value;
  return useLoaded(`inbox ${where ?? ''}`, () => readInbox(where), OF_INBOX);
}

/** What waits in one of several projects. */
export interface Elsewhere {
  root: string;
  inbox?: Inbox;
  problem?: string;
}

/** So many projects are asked. */
const MOST_PROJECTS = 12;

/** What waits in the other projects, read when the page is looked at: their changes are not followed. */
export function useElsewhere(roots: readonly string[]): Loaded<Elsewhere[]> {
  const asked = roots.slice(0, MOST_PROJECTS);
  return useLoaded(
    `elsewhere ${asked.join('\n')}`,
    () =>
      Promise.all(
        asked.map((root) =>
          readInbox(root).then(
            (inbox): Elsewhere => ({ root, inbox }),
            (error: unknown): Elsewhere => ({ root, problem: saidOf(error) }),
          ),
        ),
      ),
    ['seen'],
  );
}

/** Midnight here: what came after it is of today. */
const today = (): string => new Date(new Date().setHours(0, 0, 0, 0)).toISOString();

/** Who works on what, and what has happened today. */
export function useActivity(): Loaded<Answers['activity']> {
  return useAnswer('activity', { since: today() }, [
    'tasks',
    'runs',
    'receipts',
    'memory',
    'progress',
    'handover',
    'programs',
  ]);
}

/** What agents are called, by the names that files have for them. */
export function useNames(): (agent: string | undefined) => string {
  const { data } = useAnswer('list', { what: 'agents', limit: 200 }, ['content']);
  return (agent = '') => {
    if (agent === 'a person on the page') return t`a person on the page`;
    const bare = bareName(agent);
    return data?.items.find(({ name }) => name === agent || bareName(name) === bare)?.person ?? agent;
  };
}
